import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { lstat, mkdir, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { ComputeDriverError } from '../compute-driver';

/** Where local drivers of all installations on a machine find each other. Only root can make it, and it survives a restart. */
export const MACHINE_REGISTRY = '/var/lib/managed-spark/local-nodes';
/** Folders of nodes that one machine may have. */
const MAX_FOLDERS = 1000;

/**
 * The folders of nodes on this machine, whichever installation has them. An entry only says where to look: what a node has is
 * in the folder itself, so that nothing here can outlive it.
 */
export class MachineRegistry {
  /** Held while one of the installations reads what all have and takes something of its own. */
  readonly lockFile: string;

  constructor(private readonly dir: string) {
    this.lockFile = `${dir}/.lock`;
  }

  /** Nobody else may write to it: an entry keeps user ids from all others. */
  async prepare(): Promise<void> {
    await mkdir(this.dir, { recursive: true, mode: 0o700 });
    const found = await lstat(this.dir);
    if (found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o022) === 0) return;
    const message = `${this.dir} says which users the local nodes of this machine have, so it must be a folder that belongs to user ${process.getuid?.()} and that nobody else can write to. Correct its owner and mode.`;
    throw new ComputeDriverError('LOCAL.REGISTRY_UNSAFE', message, { kind: 'denied' });
  }

  /** Adds a folder of nodes, and answers all that exist. Only while the lock is held. */
  async add(nodesDir: string): Promise<string[]> {
    const own = await realpath(nodesDir);
    const known = await this.folders();
    if (!known.includes(own)) {
      if (known.length >= MAX_FOLDERS) {
        const message = `${this.dir} lists ${MAX_FOLDERS} folders of local nodes already. Remove those that nobody uses.`;
        throw new ComputeDriverError('LOCAL.TOO_MANY_FOLDERS', message, { kind: 'capacity' });
      }
      const file = `${this.dir}/${createHash('sha256').update(own).digest('hex').slice(0, 32)}`;
      await writeFile(`${file}.new`, own, { mode: 0o600 });
      await rename(`${file}.new`, file);
    }
    return [...new Set([own, ...known])];
  }

  /** Forgets those that were removed. */
  private async folders(): Promise<string[]> {
    const found: string[] = [];
    for (const name of await readdir(this.dir)) {
      if (!/^[0-9a-f]{32}$/.test(name)) continue;
      const folder = await readFile(`${this.dir}/${name}`, 'utf8');
      if (existsSync(folder)) found.push(folder);
      else await rm(`${this.dir}/${name}`, { force: true });
    }
    return found;
  }
}
