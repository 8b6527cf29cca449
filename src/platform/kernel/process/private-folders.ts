import { chmodSync, mkdirSync } from 'node:fs';
import { StartError } from './start-error';

/**
 * Creates folders that only this user may enter, and closes existing folders to others, because jobs of local nodes run as
 * other users of the same machine. A volume that another user owns is left unchanged.
 */
export function createPrivateFolders(folders: readonly string[], variable: string): void {
  for (const folder of folders) {
    create(folder, variable);
    try {
      chmodSync(folder, 0o700);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error;
    }
  }
}

function create(folder: string, variable: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (cause) {
    const message = `The folder ${folder} cannot be created (${(cause as NodeJS.ErrnoException).code}).`;
    const remedy = `Give the user of this process write access to ${variable}, or set another folder there.`;
    throw new StartError('FOLDER.NOT_USABLE', message, { variable, remedy }, { cause });
  }
}
