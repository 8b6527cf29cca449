import { chmodSync, mkdirSync } from 'node:fs';
import { StartError } from './start-error';

/**
 * Creates folders that only this user may enter, and closes existing ones to others: jobs of local nodes are other
 * users of the same machine. A volume owned by another user stays as it is.
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
    const message = `The folder ${folder} cannot be made (${(cause as NodeJS.ErrnoException).code}).`;
    const remedy = `Let the user of this process write to what ${variable} names, or name another folder there.`;
    throw new StartError('FOLDER.NOT_USABLE', message, { variable, remedy }, { cause });
  }
}
