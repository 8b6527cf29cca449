import { hasProcesses } from './processes';
import { type Confinement, Sandbox } from './sandbox';

/** The daemons of a node have the first sandbox, runs the others. */
const OF_DAEMONS = 0;
/** Sandboxes at once where they need no users. */
const MANY = 1_000_000;

/** What all sandboxes of a node have in common. */
export interface SandboxView {
  /** Read-only files and folders of the machine. */
  visible: readonly string[];
  /** Folders that all sandboxes share. */
  shared: readonly string[];
  /** Devices of the machine that all sandboxes use, such as GPUs. */
  devices?: readonly string[];
  /** Mark of their processes: the node's directory. */
  mark: string;
}

/** Gives out the sandboxes of a node. */
export class Sandboxes {
  private readonly taken = new Set<number>();
  private last = OF_DAEMONS;

  constructor(
    readonly confinement: Confinement,
    private readonly view: SandboxView,
  ) {}

  /** A sandbox for a new run; the one returned last is reused last. Throws when there is none. */
  take(): number {
    const count = this.confinement.kind === 'users' ? this.confinement.uids : MANY;
    for (let tries = 1; tries < count; tries++) {
      const index = ((this.last + tries - 1) % (count - 1)) + 1;
      if (this.taken.has(index) || this.isUsed(index)) continue;
      this.last = index;
      this.taken.add(index);
      return index;
    }
    throw new Error(`All ${count - 1} users that the node has for runs are in use.`);
  }

  /** One that a run of an earlier agent has. */
  keep(index: number): void {
    this.taken.add(index);
  }

  release(index: number): void {
    this.taken.delete(index);
  }

  /** @param index as {@link take} gave it; undefined for what an agent without sandboxes has started */
  of(dir: string, index: number | undefined): Sandbox {
    const confinement: Confinement = index === undefined ? { kind: 'none' } : this.confinement;
    return new Sandbox(confinement, { dir, index: index ?? OF_DAEMONS, ...this.view });
  }

  ofDaemons(dir: string): Sandbox {
    return this.of(dir, OF_DAEMONS);
  }

  /** Something of a run whose journal was lost may still be alive. */
  private isUsed(index: number): boolean {
    return this.confinement.kind === 'users' && hasProcesses(this.confinement.firstUid + index);
  }
}
