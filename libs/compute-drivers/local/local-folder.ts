import { randomUUID } from 'node:crypto';
import { link, mkdir, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tryLock } from '../../node-agent/processes';
import { ComputeDriverError, ElsewhereError } from '../compute-driver';
import { asDriverError } from './driver-error';

/** Ids of the folder, one a line: its own, and then those of lost folders in whose place an operator has put it. */
export const FOLDER_IDS_FILE = '.folder-ids';
/** Is locked by the worker that has the folder. */
export const FOLDER_LOCK_FILE = '.lock';
const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** References that earlier releases gave name no folder. */
const REFERENCE = /^local:([0-9a-f-]{36}):/;

/**
 * The folder that holds the nodes of a local driver. It has an id, and each node's reference names it, so that a worker with
 * another folder does not take the node for gone.
 */
export class LocalFolder {
  constructor(readonly dir: string) {}

  /** The reference of a node that is in it, or will be. */
  async reference(nodeToken: string): Promise<string> {
    const [own] = await this.ids();
    return `local:${own}:${nodeToken}`;
  }

  /**
   * Throws an {@link ElsewhereError} if one of these references names another folder. Reads the ids anew: a volume may be
   * missing, and an operator may have added one.
   */
  async assertHolds(references: readonly string[]): Promise<void> {
    const named = new Set(references.flatMap((reference) => REFERENCE.exec(reference)?.[1] ?? []));
    if (named.size === 0) return;
    const ids = await this.ids();
    const other = [...named].find((id) => !ids.includes(id));
    if (other === undefined) return;
    throw new ElsewhereError(
      `The nodes of the cluster are in the folder of local nodes ${other}, and this worker has ${ids[0]}. Start a worker with that folder (COMPUTE_LOCAL_DIR) or, if it is lost, add its id as a line to ${FOLDER_IDS_FILE} in the folder that takes its place.`,
    );
  }

  /**
   * Takes the folder for this process until it ends or gives it back; null while another process has it.
   * @param onLost is called if it is lost before
   */
  async tryTake(onLost: () => void): Promise<(() => Promise<void>) | null> {
    const lock = `${this.dir}/${FOLDER_LOCK_FILE}`;
    try {
      await mkdir(this.dir, { recursive: true, mode: 0o700 });
      // A file that cannot be opened would look like a lock that another process holds.
      await (await open(lock, 'a', 0o600)).close();
      await this.ids();
      return await tryLock(lock, onLost);
    } catch (error) {
      throw asDriverError(error, this.dir);
    }
  }

  /** Its own id, which it gets with the first question, and then those of others that it stands for. */
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
    const message = `${file} must hold the id of the folder and below it those of lost folders, one a line. Correct it: without it nodes of other folders could be taken for lost ones.`;
    throw new ComputeDriverError('LOCAL.FOLDER_IDS_INVALID', message, { kind: 'denied' });
  }

  /** Under another name first, so that the file is always a whole one; of two that make it, both get the first one's. */
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
