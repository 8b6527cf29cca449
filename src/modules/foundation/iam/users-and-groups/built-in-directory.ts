import { conflict } from '../../../../platform/kernel/errors/domain-error';

/** Value of the column `directory` for accounts and groups of the built-in directory. */
const BUILT_IN = 'local';

/** Throws a conflict if an external directory is configured. */
export function assertBuiltIn(configured: string): void {
  if (configured === BUILT_IN) return;
  throw conflict(
    'DIRECTORY.EXTERNAL',
    `Users and groups come from the external directory (${configured}). Create them there. They appear here when a user logs in or when they are synchronized.`,
  );
}

/** Throws a conflict if the account or group comes from an external directory. */
export function assertFromBuiltIn(label: 'user' | 'group', record: { directory: string }): void {
  if (record.directory === BUILT_IN) return;
  throw conflict(
    'DIRECTORY.EXTERNAL',
    `The ${label} comes from an external directory (${record.directory}). Change it there.`,
  );
}
