import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { RunFile, RunSpec } from '../contracts/agent-protocol';
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
    const files = namedBy(spec).filter((file) => file.kind === 'fetched');
    if (files.length === 0) return null;
    const underWay = new AbortController();
    this.underWay = underWay;
    const deadline = setTimeout(() => underWay.abort(), STAGING_DEADLINE_MS);
    try {
      const problems = await Promise.all(files.map((file) => this.one(file, underWay.signal)));
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

  /** Path of a fetched file, address of any other. Files keep their names, which Python imports and Spark's file lookup depend on. */
  locate(file: RunFile): string {
    if (file.kind === 'fetched') {
      const name = file.name.replace(/^.*\//, '');
      return `${this.folder}/${file.index}/${/^\.{0,2}$/.test(name) ? 'file' : name}`;
    }
    if (file.uri === null) throw new SubmitError(`The file ${file.name} has no address.`);
    return file.uri;
  }

  private async one(file: RunFile, stopped: AbortSignal): Promise<RunEnd | null> {
    const target = this.locate(file);
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
    const jars = [spec.kind === 'jar' ? spec.application : null, ...spec.jars].filter((file) => file !== null);
    const broken = jars.find((file) => file.kind === 'fetched' && !isZip(this.locate(file)));
    return broken ? notAJar(broken.name) : null;
  }
}

function namedBy(spec: RunSpec): RunFile[] {
  const lists = [spec.files, spec.jars, spec.py_files, spec.archives, spec.properties_files];
  const ofFunction = spec.function ? [spec.function.project, spec.function.requirements_file] : [];
  return [spec.application, spec.keytab_file ?? null, ...ofFunction, ...lists.flat()].filter((file) => file !== null);
}

function notFetched({ name }: RunFile, why: string): RunEnd {
  return { reason: 'STAGING_FAILED', outcome: 'terminated', message: `${name} was not fetched${why}` };
}
