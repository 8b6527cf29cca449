import type { Readable } from 'node:stream';
import type { TenantScope } from '../../../platform/kernel/auth/principal';
import type { Tx } from '../../../platform/kernel/persistence/sql';
import type { WorkspaceFileRow } from './workspace-files.repository';

export type { WorkspaceFileRow };

/** Bytes that were just uploaded. */
export interface UploadedContent {
  sizeBytes: number;
  open(): Promise<Readable>;
}

/** Takes in what an upload means, in the transaction that gives it to the file. */
export type TakesIn = (tx: Tx) => Promise<void>;

/** Tells a domain that uses files of workspaces what happens to them. Nest finds its providers in the process that clients call. */
export abstract class FileUse {
  /**
   * Reads what is to replace the content of a file, before the transaction; null if the domain does not use the file.
   * Throws a 400 if it could not use it any longer.
   */
  abstract read(scope: TenantScope, file: WorkspaceFileRow, content: UploadedContent): Promise<TakesIn | null>;

  /** Throws a 409 if the domain uses the file, or one in the directory. */
  abstract assertUnused(tx: Tx, file: WorkspaceFileRow): Promise<void>;

  /** Throws a 409 if the domain could not use the file any longer under another path. */
  abstract assertMayMove(tx: Tx, file: WorkspaceFileRow, path: string): Promise<void>;
}
