import { closeSync, constants, fstatSync, lchownSync, openSync, renameSync } from 'node:fs';
import { applicationIdOf } from '../spark/application-id';
import { firstNames, openPlain, readOnce } from './files';
import type { MaskableLog } from './masked-log';

/** No more names than this are read from the folder; Spark creates only a few. */
const LOOKED_AT = 1_000;
const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * The event log that Spark keeps of an application, in a folder of the job's: what is there may be anything, and in the
 * folder's place may be a link to another job's.
 */
export class EventLog implements MaskableLog {
  /** Where it is once the job is gone. */
  private readonly settledPath: string;

  /**
   * @param dir the agent's folder for the run
   * @param folder the job's folder of event logs
   * @param uid the job's user; null where that is the agent's
   * @param application id of the application, once it is known
   * @param limit bytes; read each time, since the control plane may change it
   */
  constructor(
    dir: string,
    private readonly folder: string,
    private readonly uid: number | null,
    private readonly application: () => string | null,
    private readonly limit: () => number,
  ) {
    this.settledPath = `${dir}/events`;
  }

  /** Id of an application of which there is a log. */
  findApplication(): string | null {
    const names = this.inFolder((folder) => firstNames(folder, LOOKED_AT)) ?? [];
    return names.map(applicationIdOf).find((id) => id !== null) ?? null;
  }

  get kept(): number {
    return Math.min(this.size, this.limit());
  }

  get isCut(): boolean {
    return this.size > this.limit();
  }

  /** Nothing: Spark's History Server takes no line that is not an event. */
  ending(): Buffer {
    return Buffer.alloc(0);
  }

  read(position: number, length: number): Buffer {
    return readOnce(this.open(), position, length);
  }

  /** Opens it to be read; null while there is none. The caller closes it. */
  open(): number | null {
    return openPlain(this.settledPath) ?? this.inFolder((folder) => this.find(folder)?.fd ?? null);
  }

  /** Takes it out of the job's folder, which is about to be removed. Only once no process of the job is left. */
  settle(): void {
    this.inFolder((folder) => {
      const found = this.find(folder);
      if (!found) return;
      closeSync(found.fd);
      renameSync(found.path, this.settledPath);
      if (this.uid !== null) lchownSync(this.settledPath, process.getuid?.() ?? 0, process.getgid?.() ?? 0);
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

  /** What `look` finds in the folder, which stays the same one meanwhile; null for a folder that cannot be read. */
  private inFolder<T>(look: (folder: string) => T): T | null {
    let fd: number | null = null;
    try {
      fd = openSync(this.folder, FOLDER);
      return look(`/proc/self/fd/${fd}`);
    } catch {
      // It is the job's, which may have removed it or closed it to others.
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
