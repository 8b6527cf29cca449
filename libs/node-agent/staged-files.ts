import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { RunFile, RunSpec } from '../contracts/agent-protocol';
import { plainName } from '../spark/file-lists';
import { notAJar, type RunEnd } from '../spark/run-end';
import { SubmitError } from '../spark/submit-error';
import { AnswerError } from './control-plane';
import { isZip } from './files';
import { Backoff, pause } from './waiting';

const STAGING_DEADLINE_MS = 10 * 60_000;

/** Brings a file from the control plane to the path `target`. */
export type FetchFile = (file: RunFile, target: string, stopped: AbortSignal) => Promise<unknown>;

/** The files that a run has fetched before it begins. */
export class StagedFiles {
  private underWay: AbortController | null = null;

  /** @param folder of these files; nobody else writes to it before the run begins */
  constructor(
    private readonly folder: string,
    private readonly fetchFile: FetchFile,
  ) {}

  /** Fetches whatever the run names; answers why it cannot begin, or null. */
  async fetch(spec: RunSpec): Promise<RunEnd | null> {
    const files = namedBy(spec).filter(({ file }) => file.kind === 'fetched');
    if (files.length === 0) return null;
    const underWay = new AbortController();
    this.underWay = underWay;
    const deadline = setTimeout(() => underWay.abort(), STAGING_DEADLINE_MS);
    try {
      const problems = await Promise.all(files.map((named) => this.one(named, underWay.signal)));
      return problems.find((problem) => problem !== null) ?? this.brokenJar(spec);
    } finally {
      clearTimeout(deadline);
      this.underWay = null;
    }
  }

  /** Ends the fetching that is under way. */
  abort(): void {
    this.underWay?.abort();
  }

  /**
   * Path of a fetched file, address of any other. Files keep their names, which Python imports and Spark's file lookup depend on;
   * those of libraries only as far as Spark can have them in a list.
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

  private async one({ file, isLibrary }: Named, stopped: AbortSignal): Promise<RunEnd | null> {
    const target = this.locate(file, isLibrary);
    const backoff = new Backoff(100, 5_000);
    let last = 'there was no answer';
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    while (!stopped.aborted) {
      try {
        await this.fetchFile(file, target, stopped);
        return null;
      } catch (error) {
        const { message, code } = error as NodeJS.ErrnoException;
        if (error instanceof AnswerError && error.status === 404)
          return { reason: 'FILE_NOT_FOUND', outcome: 'error', message };
        const isPermanent =
          (error instanceof AnswerError && !error.retryable) || code === 'ENOSPC' || code === 'EACCES';
        if (isPermanent) return notFetched(file, `: ${message}`);
        last = message;
      }
      await pause(backoff.next(), stopped);
    }
    return notFetched(file, ` in time: ${last}`);
  }

  /** Spark passes over a jar that it cannot read, and then only misses a class. */
  private brokenJar(spec: RunSpec): RunEnd | null {
    const jars = [...named(spec.kind === 'jar' ? [spec.application] : []), ...named(spec.jars, true)];
    const broken = jars.find(({ file, isLibrary }) => file.kind === 'fetched' && !isZip(this.locate(file, isLibrary)));
    return broken ? notAJar(broken.file.name) : null;
  }
}

interface Named {
  file: RunFile;
  /** See {@link StagedFiles.locate}. */
  isLibrary: boolean;
}

function named(files: readonly (RunFile | null | undefined)[], isLibrary = false): Named[] {
  return files.flatMap((file) => (file ? { file, isLibrary } : []));
}

function namedBy(spec: RunSpec): Named[] {
  const ofFunction = [spec.function?.project, spec.function?.requirements_file];
  const single = [spec.application, spec.keytab_file, ...ofFunction];
  return [
    ...named([...single, ...spec.files, ...spec.archives, ...spec.properties_files]),
    ...named([...spec.jars, ...spec.py_files], true),
  ];
}

function notFetched({ name }: RunFile, why: string): RunEnd {
  return { reason: 'STAGING_FAILED', outcome: 'terminated', message: `${name} was not fetched${why}` };
}
