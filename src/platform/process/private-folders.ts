import { chmodSync, mkdirSync } from 'node:fs';

/**
 * Makes folders that only this user may look into, and closes those that are there: jobs of local nodes are other users of the
 * same machine. A volume that belongs to somebody else stays as it is.
 */
export function keepPrivate(...folders: readonly string[]): void {
  for (const folder of folders) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    try {
      chmodSync(folder, 0o700);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error;
    }
  }
}
