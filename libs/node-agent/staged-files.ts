import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { RunFile, RunSpec } from '../contracts/agent-protocol';
import { plainName } from '../spark/file-lists';
import { notAJar, type RunEnd } from '../spark/run-end';
import { SubmitError } from '../spark/submit-error';
import { ResponseError } from './control-plane';
import { isZip } from './files';
import { Backoff, pause } from './waiting';

const STAGING_TIMEOUT_MS = 10 * 60_000;

/** Downloads a file from the control plane to the path `target`. */
export type FetchFile = (file: RunFile, target: string, stopped: AbortSignal) => Promise<unknown>;

/** The files that a run needs on the node before it starts. */
export class StagedFiles {
  private fetching: AbortController | null = null;

  /** @param folder folder of these files; no other code writes to it before the run starts */
  constructor(
    private readonly folder: string,
    private readonly fetchFile: FetchFile,
  ) {}

  /** Fetches all files that the run names. Returns why the run cannot start, or null. */
  async fetch(spec: RunSpec): Promise<RunEnd | null> {
    const files = stagedFilesOf(spec).filter(({ file }) => file.kind === 'fetched');
    if (files.length === 0) return null;
    const fetching = new AbortController();
    this.fetching = fetching;
    const deadline = setTimeout(() => fetching.abort(), STAGING_TIMEOUT_MS);
    try {
      const problems = await Promise.all(files.map((file) => this.fetchOne(file, fetching.signal)));
      return problems.find((problem) => problem !== null) ?? this.brokenJar(spec);
    } finally {
      clearTimeout(deadline);
      this.fetching = null;
    }
  }

  /** Cancels the fetch in progress. */
  abort(): void {
    this.fetching?.abort();
  }

  /**
   * Returns the path of a fetched file, or the URI of any other. Files keep their names, because Python's imports and Spark's lookup of
   * files depend on them. In the names of libraries, characters that Spark's lists do not allow are replaced.
   */
  locate(file: RunFile, isLibrary = false): string {
    if (file.kind === 'fetched') {
      const own = file.name.replace(/^.*\//, '');
      const name = isLibrary ? plainName(own) : own;
      return `${this.folder}/${file.index}/${/^\.{0,2}$/.test(name) ? 'file' : name}`;
    }
    if (file.uri === null) throw new SubmitError(`The file ${file.name} has no address.`);
    return file.uri;
  }

  private async fetchOne({ file, isLibrary }: StagedFile, stopped: AbortSignal): Promise<RunEnd | null> {
    const target = this.locate(file, isLibrary);
    const backoff = new Backoff(100, 5_000);
    let last = 'there was no response';
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    while (!stopped.aborted) {
      try {
        await this.fetchFile(file, target, stopped);
        return null;
      } catch (error) {
        const { message, code } = error as NodeJS.ErrnoException;
        if (error instanceof ResponseError && error.status === 404)
          return { reason: 'FILE_NOT_FOUND', outcome: 'error', message };
        const isPermanent =
          (error instanceof ResponseError && !error.retryable) || code === 'ENOSPC' || code === 'EACCES';
        if (isPermanent) return notFetched(file, `: ${message}`);
        last = message;
      }
      await pause(backoff.next(), stopped);
    }
    return notFetched(file, ` in time: ${last}`);
  }

  /** Finds a jar that is not a zip file. Spark skips a jar that it cannot read, so that only a missing class would show. */
  private brokenJar(spec: RunSpec): RunEnd | null {
    const jars = [...staged(spec.kind === 'jar' ? [spec.application] : []), ...staged(spec.jars, true)];
    const broken = jars.find(({ file, isLibrary }) => file.kind === 'fetched' && !isZip(this.locate(file, isLibrary)));
    return broken ? notAJar(broken.file.name) : null;
  }
}

interface StagedFile {
  file: RunFile;
  /** See {@link StagedFiles.locate}. */
  isLibrary: boolean;
}

function staged(files: readonly (RunFile | null | undefined)[], isLibrary = false): StagedFile[] {
  return files.flatMap((file) => (file ? { file, isLibrary } : []));
}

function stagedFilesOf(spec: RunSpec): StagedFile[] {
  const functionFiles = [spec.function?.project, spec.function?.requirements_file];
  const single = [spec.application, spec.keytab_file, ...functionFiles];
  return [
    ...staged([...single, ...spec.files, ...spec.archives, ...spec.properties_files]),
    ...staged([...spec.jars, ...spec.py_files], true),
  ];
}

function notFetched({ name }: RunFile, why: string): RunEnd {
  return { reason: 'STAGING_FAILED', outcome: 'terminated', message: `${name} was not fetched${why}` };
}
