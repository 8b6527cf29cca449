import type { Readable } from 'node:stream';
import type { TenantScope } from '../../../platform/kernel/auth/principal';
import type { Tx } from '../../../platform/kernel/persistence/sql';
import type { WorkspaceFileRow } from './workspace-files.repository';

export type { WorkspaceFileRow };

export interface UploadedContent {
  sizeBytes: number;
  open(): Promise<Readable>;
}

/** Applies the content of an upload, in the transaction that replaces the file. */
export type ApplyUpload = (tx: Tx) => Promise<void>;

/** Notifies a domain that uses files of workspaces about their changes. Nest finds its providers in the API process. */
export abstract class FileUse {
  /**
   * Reads the new content of a file before the transaction. Returns null if the domain does not use the file, and
   * throws a 400 if it could no longer use it.
   */
  abstract read(scope: TenantScope, file: WorkspaceFileRow, content: UploadedContent): Promise<ApplyUpload | null>;

  /** Throws a 409 if the domain uses the file, or one in the directory. */
  abstract assertUnused(tx: Tx, file: WorkspaceFileRow): Promise<void>;

  /** Throws a 409 if the domain could no longer use the file under another path. */
  abstract assertMayMove(tx: Tx, file: WorkspaceFileRow, path: string): Promise<void>;
}
