import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { lstat, mkdir, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { ComputeDriverError } from '../compute-driver';

/** Folder in which local drivers of all installations on a machine register. Only root can create it, and it survives a reboot. */
export const MACHINE_REGISTRY = '/var/lib/managed-spark/local-nodes';
const MAX_FOLDERS = 1000;

/**
 * Registers the folders of nodes on this machine, of all installations. An entry has only the path of a folder, which holds all
 * data of its nodes, so an entry cannot outlive them.
 */
export class MachineRegistry {
  /** Locked while an installation reads the users of all nodes and allocates its own. */
  readonly lockFile: string;

  constructor(private readonly dir: string) {
    this.lockFile = `${dir}/.lock`;
  }

  /** Throws if other users can write to the folder, because an entry reserves user ids. */
  async prepare(): Promise<void> {
    await mkdir(this.dir, { recursive: true, mode: 0o700 });
    const found = await lstat(this.dir);
    if (found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o022) === 0) return;
    const message = `${this.dir} registers the users of local nodes on this machine, so it must be a folder that belongs to user ${process.getuid?.()} and that nobody else can write to. Correct its owner and mode.`;
    throw new ComputeDriverError('LOCAL.REGISTRY_UNSAFE', message, { kind: 'denied' });
  }

  /** Adds a folder of nodes and returns all that exist. The caller holds the lock. */
  async add(nodesDir: string): Promise<string[]> {
    const own = await realpath(nodesDir);
    const known = await this.folders();
    if (!known.includes(own)) {
      if (known.length >= MAX_FOLDERS) {
        const message = `${this.dir} already lists ${MAX_FOLDERS} folders of local nodes. Remove the folders that are not used.`;
        throw new ComputeDriverError('LOCAL.TOO_MANY_FOLDERS', message, { kind: 'capacity' });
      }
      const file = `${this.dir}/${createHash('sha256').update(own).digest('hex').slice(0, 32)}`;
      await writeFile(`${file}.new`, own, { mode: 0o600 });
      await rename(`${file}.new`, file);
    }
    return [...new Set([own, ...known])];
  }

  /** Lists the registered folders, and removes entries of deleted ones. */
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
