import { DomainError } from '../../../platform/kernel/errors/domain-error';

/** Bytes of this process's uploads to one workspace while any of them is under way. */
interface UploadTotals {
  count: number;
  /** Announced bytes, or received ones if they are more. */
  reservedBytes: number;
  /** Growth of the files by these uploads, bytes. */
  kept: number;
}

/** The share of one upload in a workspace's quota. */
export interface QuotaClaim {
  /** Throws 413 `WORKSPACE.QUOTA_EXCEEDED` if this upload does not fit into the quota with that many bytes in total. */
  reserve(bytes: number): void;
  /**
   * Ends the claim.
   * @param grownBy growth of the files of the workspace, bytes
   */
  end(grownBy: number): void;
}

/**
 * Tracks the quota of workspaces for uploads under way, whose bytes are on the disk but in no row yet. Each process
 * counts its own uploads; the transaction that keeps a file checks again.
 */
export class WorkspaceQuota {
  private readonly totals = new Map<number, UploadTotals>();

  /** @param limit maximum bytes of the files of one workspace; null means no limit */
  constructor(private readonly limit: number | null) {}

  /** Throws a 413 if that many bytes of files exceed the quota. */
  assertWithinQuota(bytes: number): void {
    if (this.limit !== null && bytes > this.limit) throw exceeded(this.limit);
  }

  /**
   * Starts a claim of an upload.
   * @param used bytes of the files that remain besides the upload, as just read
   */
  claim(workspaceId: number, used: number): QuotaClaim {
    const uploads = this.totals.get(workspaceId) ?? { count: 0, reservedBytes: 0, kept: 0 };
    this.totals.set(workspaceId, uploads);
    uploads.count += 1;
    const usedBefore = used - uploads.kept;
    let reserved = 0;
    return {
      reserve: (bytes) => {
        if (bytes <= reserved) return;
        this.assertWithinQuota(usedBefore + uploads.kept + uploads.reservedBytes - reserved + bytes);
        uploads.reservedBytes += bytes - reserved;
        reserved = bytes;
      },
      end: (grownBy) => {
        uploads.reservedBytes -= reserved;
        uploads.kept += grownBy;
        uploads.count -= 1;
        if (uploads.count === 0) this.totals.delete(workspaceId);
      },
    };
  }
}

function exceeded(limit: number): DomainError {
  return new DomainError(
    'too-large',
    'WORKSPACE.QUOTA_EXCEEDED',
    `The files of a workspace may have at most ${limit} bytes in total. Delete files that are no longer needed first.`,
  );
}
