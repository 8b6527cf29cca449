import { closeSync, constants, fstatSync, lchownSync, openSync, renameSync } from 'node:fs';
import { applicationIdOf } from '../spark/application-id';
import { firstNames, openPlain, readOnce } from './files';
import type { MaskableLog } from './masked-log';

/** Maximum number of names that are read from the folder. Spark creates only a few. */
const MAX_NAMES = 1_000;
const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * The event log that Spark writes for an application. Its folder belongs to the job, so the content may be anything, and the folder may
 * have been replaced by a link to another job's.
 */
export class EventLog implements MaskableLog {
  /** Path of the log once the job has ended. */
  private readonly archivedPath: string;

  /**
   * @param dir the agent's folder for the run
   * @param folder the job's folder of event logs
   * @param uid the job's user; null if it is the agent's
   * @param application returns the id of the application, once it is known
   * @param limit returns the maximum size, bytes; called each time, because the control plane may change it
   */
  constructor(
    dir: string,
    private readonly folder: string,
    private readonly uid: number | null,
    private readonly application: () => string | null,
    private readonly limit: () => number,
  ) {
    this.archivedPath = `${dir}/events`;
  }

  /** Returns the id of an application that has a log. */
  findApplication(): string | null {
    const names = this.inFolder((folder) => firstNames(folder, MAX_NAMES)) ?? [];
    return names.map(applicationIdOf).find((id) => id !== null) ?? null;
  }

  get kept(): number {
    return Math.min(this.size, this.limit());
  }

  get isCut(): boolean {
    return this.size > this.limit();
  }

  /** Returns nothing: Spark's History Server refuses lines that are not events. */
  ending(): Buffer {
    return Buffer.alloc(0);
  }

  read(position: number, length: number): Buffer {
    return readOnce(this.open(), position, length);
  }

  /** Opens the log for reading; returns null if there is none. The caller closes it. */
  open(): number | null {
    return openPlain(this.archivedPath) ?? this.inFolder((folder) => this.find(folder)?.fd ?? null);
  }

  /** Moves the log out of the job's folder, which is about to be removed. Only allowed once no process of the job is left. */
  archive(): void {
    this.inFolder((folder) => {
      const found = this.find(folder);
      if (!found) return;
      closeSync(found.fd);
      renameSync(found.path, this.archivedPath);
      if (this.uid !== null) lchownSync(this.archivedPath, process.getuid?.() ?? 0, process.getgid?.() ?? 0);
    });
  }

  private get size(): number {
    const fd = this.open();
    if (fd === null) return 0;
    try {
      return fstatSync(fd).size;
    } finally {
      closeSync(fd);
    }
  }

  /** Applies `action` to the folder, which cannot be replaced meanwhile; returns null if the folder cannot be read. */
  private inFolder<T>(action: (folder: string) => T): T | null {
    let fd: number | null = null;
    try {
      fd = openSync(this.folder, FOLDER);
      return action(`/proc/self/fd/${fd}`);
    } catch {
      // The folder belongs to the job, which may have removed it or closed it to others.
      return null;
    } finally {
      if (fd !== null) closeSync(fd);
    }
  }

  private find(folder: string): { path: string; fd: number } | null {
    const id = this.application();
    if (id === null) return null;
    for (const path of [`${folder}/${id}.inprogress`, `${folder}/${id}`]) {
      const fd = openPlain(path);
      if (fd === null) continue;
      if (this.uid === null || fstatSync(fd).uid === this.uid) return { path, fd };
      closeSync(fd);
    }
    return null;
  }
}
