import { conflict } from '../../../../platform/kernel/errors/domain-error';

/** What the accounts and groups of the built-in directory have in their column `directory`. */
const BUILT_IN = 'local';

/** Throws a conflict when users and groups come from an outside directory. */
export function assertBuiltIn(configured: string): void {
  if (configured === BUILT_IN) return;
  throw conflict(
    'DIRECTORY.EXTERNAL',
    `Users and groups come from the external directory (${configured}). Create them there; they appear here when they are used.`,
  );
}

/** Throws a conflict when the account or group comes from an outside directory. */
export function assertFromBuiltIn(label: 'user' | 'group', record: { directory: string }): void {
  if (record.directory === BUILT_IN) return;
  throw conflict(
    'DIRECTORY.EXTERNAL',
    `The ${label} comes from an external directory (${record.directory}). Change it there.`,
  );
}
