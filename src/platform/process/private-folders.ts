import { chmodSync, mkdirSync } from 'node:fs';

/**
 * Creates folders that only this user may enter, and closes existing ones to others: jobs of local nodes are other
 * users of the same machine. A volume owned by another user stays as it is.
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
