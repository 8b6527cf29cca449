import { DomainError } from '../../../platform/kernel/errors/domain-error';

/** What this process's uploads to one workspace take while any of them is under way, bytes. */
interface Ledger {
  uploads: number;
  /** Announced, or received where that is more. */
  underWay: number;
  /** Growth of the files since the ledger was opened. */
  kept: number;
}

/** The part of a workspace's quota that one upload takes. */
export interface RoomClaim {
  /** Throws 413 `WORKSPACE.QUOTA_EXCEEDED` if there is no room for that many bytes of this upload in total. */
  hold(bytes: number): void;
  /** Ends the claim. @param grownBy how much the files of the workspace have grown, bytes */
  end(grownBy: number): void;
}

/**
 * Room under the quota of workspaces for uploads under way, whose bytes are on the disk but in no row yet. Each process
 * counts its own; the transaction that keeps a file checks again.
 */
export class WorkspaceRoom {
  private readonly ledgers = new Map<number, Ledger>();

  /** @param limit bytes of the files of one workspace; null means no limit */
  constructor(private readonly limit: number | null) {}

  /** Throws 413 if that many bytes of files are too many. */
  assertRoomFor(bytes: number): void {
    if (this.limit !== null && bytes > this.limit) throw exceeded(this.limit);
  }

  /** @param used bytes, as just read, of the files that stay besides the upload */
  claim(workspaceId: number, used: number): RoomClaim {
    const ledger = this.ledgers.get(workspaceId) ?? { uploads: 0, underWay: 0, kept: 0 };
    this.ledgers.set(workspaceId, ledger);
    ledger.uploads += 1;
    const usedBefore = used - ledger.kept;
    let held = 0;
    return {
      hold: (bytes) => {
        if (bytes <= held) return;
        this.assertRoomFor(usedBefore + ledger.kept + ledger.underWay - held + bytes);
        ledger.underWay += bytes - held;
        held = bytes;
      },
      end: (grownBy) => {
        ledger.underWay -= held;
        ledger.kept += grownBy;
        ledger.uploads -= 1;
        if (ledger.uploads === 0) this.ledgers.delete(workspaceId);
      },
    };
  }
}

function exceeded(limit: number): DomainError {
  return new DomainError(
    'too-large',
    'WORKSPACE.QUOTA_EXCEEDED',
    `The files of a workspace may have at most ${limit} bytes together.`,
  );
}
