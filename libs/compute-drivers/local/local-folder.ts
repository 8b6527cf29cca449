import { randomUUID } from 'node:crypto';
import { link, mkdir, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tryLock } from '../../node-agent/processes';
import { ComputeDriverError, ElsewhereError } from '../compute-driver';
import { asDriverError } from './driver-error';

/** Holds the ids of the folder, one per line: its own first, then those of lost folders that an operator replaced with it. */
export const FOLDER_IDS_FILE = '.folder-ids';
/** The worker that uses the folder locks this file. */
export const FOLDER_LOCK_FILE = '.lock';
const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Does not match references from earlier releases, which name no folder. */
const REFERENCE = /^local:([0-9a-f-]{36}):/;

/**
 * The folder that holds the nodes of a local driver. Each node's reference names the id of the folder, so that a worker with
 * another folder does not assume that the node is gone.
 */
export class LocalFolder {
  constructor(readonly dir: string) {}

  /** Returns the reference of a node that is, or will be, in this folder. */
  async reference(nodeToken: string): Promise<string> {
    const [own] = await this.ids();
    return `local:${own}:${nodeToken}`;
  }

  /**
   * Throws an {@link ElsewhereError} if one of these references names another folder. Reads the ids each time, because a volume
   * may be missing and an operator may have added an id.
   */
  async assertHolds(references: readonly string[]): Promise<void> {
    const named = new Set(references.flatMap((reference) => REFERENCE.exec(reference)?.[1] ?? []));
    if (named.size === 0) return;
    const ids = await this.ids();
    const other = [...named].find((id) => !ids.includes(id));
    if (other === undefined) return;
    throw new ElsewhereError(
      `The nodes of the cluster are in the folder of local nodes with the id ${other}, but the folder of this worker has the id ${ids[0]}. Start a worker with that folder (COMPUTE_LOCAL_DIR) or, if it is lost, add its id as a line to ${FOLDER_IDS_FILE} in the folder that replaces it.`,
    );
  }

  /**
   * Locks the folder for this process. Returns a function that releases it, or null while another process holds it.
   * @param onLost called if the lock is lost before it is released
   */
  async tryLock(onLost: () => void): Promise<(() => Promise<void>) | null> {
    const lock = `${this.dir}/${FOLDER_LOCK_FILE}`;
    try {
      await mkdir(this.dir, { recursive: true, mode: 0o700 });
      // Otherwise a file that cannot be opened would look like a lock that another process holds.
      await (await open(lock, 'a', 0o600)).close();
      await this.ids();
      return await tryLock(lock, onLost);
    } catch (error) {
      throw asDriverError(error, this.dir);
    }
  }

  /** Returns the folder's id, which the first call creates, and then those of the folders that it replaces. */
  private async ids(): Promise<[string, ...string[]]> {
    const file = `${this.dir}/${FOLDER_IDS_FILE}`;
    try {
      const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return this.makeIds(file);
        throw error;
      });
      const [own, ...others] = text.split('\n').flatMap((line) => line.trim() || []);
      if (own !== undefined && [own, ...others].every((id) => ID.test(id))) return [own, ...others];
    } catch (error) {
      throw asDriverError(error, this.dir);
    }
    const message = `${file} must contain the id of the folder and, below it, the ids of lost folders that it replaces, one per line. Correct it: without the right ids, nodes of other folders could be mistaken for lost ones.`;
    throw new ComputeDriverError('LOCAL.FOLDER_IDS_INVALID', message, { kind: 'denied' });
  }

  /** Writes the file under another name first, so that it is never incomplete. If two processes create it, both use the id of the first. */
  private async makeIds(file: string): Promise<string> {
    await mkdir(this.dir, { recursive: true, mode: 0o700 });
    const draft = `${file}.${randomUUID()}`;
    try {
      await writeFile(draft, `${randomUUID()}\n`, { mode: 0o600, flush: true });
      await link(draft, file).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error;
      });
    } finally {
      await rm(draft, { force: true });
    }
    return readFile(file, 'utf8');
  }
}
