import { hasProcesses } from './processes';
import { type Confinement, Sandbox } from './sandbox';

/** The daemons of a node have the first sandbox, runs have the others. */
const DAEMONS_INDEX = 0;
/** Maximum number of sandboxes if they need no users. */
const MAX_SANDBOXES = 1_000_000;

/** The parts of the machine that all sandboxes of a node see. */
export interface SharedView {
  /** Read-only files and folders of the machine. */
  visible: readonly string[];
  /** Folders that all sandboxes share. */
  shared: readonly string[];
  /** Devices of the machine that all sandboxes use, such as GPUs. */
  devices?: readonly string[];
  /** The value of the node's mark in the environment of their processes: the node's directory. */
  mark: string;
}

/** Allocates the sandboxes of a node. */
export class Sandboxes {
  private readonly taken = new Set<number>();
  private last = DAEMONS_INDEX;

  constructor(
    readonly confinement: Confinement,
    private readonly view: SharedView,
  ) {}

  /** Allocates a sandbox for a new run. Released ones are reused as late as possible. Throws if none is free. */
  allocate(): number {
    const count = this.confinement.kind === 'users' ? this.confinement.uids : MAX_SANDBOXES;
    for (let tries = 1; tries < count; tries++) {
      const index = ((this.last + tries - 1) % (count - 1)) + 1;
      if (this.taken.has(index) || this.isUsed(index)) continue;
      this.last = index;
      this.taken.add(index);
      return index;
    }
    throw new Error(`All ${count - 1} users for runs on the node are in use.`);
  }

  /** Reserves the sandbox of a run that an earlier agent started. */
  reserve(index: number): void {
    this.taken.add(index);
  }

  release(index: number): void {
    this.taken.delete(index);
  }

  /** @param index from {@link allocate}; undefined for processes that an agent without sandboxes started */
  sandbox(dir: string, index: number | undefined): Sandbox {
    const confinement: Confinement = index === undefined ? { kind: 'none' } : this.confinement;
    return new Sandbox(confinement, { dir, index: index ?? DAEMONS_INDEX, ...this.view });
  }

  daemonSandbox(dir: string): Sandbox {
    return this.sandbox(dir, DAEMONS_INDEX);
  }

  /** A process of a run whose journal was lost may still be alive. */
  private isUsed(index: number): boolean {
    return this.confinement.kind === 'users' && hasProcesses(this.confinement.firstUid + index);
  }
}
