import { MAX_UTILIZATION, type NodeUtilization, type UtilizationSample } from '../contracts/agent-protocol';
import type { NodeUse } from './node-meter';
import { pause } from './waiting';

/** Between two samples, milliseconds; the first ones follow each other sooner, so that a new node soon has some. */
const FIRST_MS = 250;
const EVERY_MS = 15_000;
/** Of a machine with so many processes that measuring takes long. */
const MAX_INTERVAL_MS = 60_000;
/** Of a core, most that measuring may take. */
const MAX_SHARE = 0.002;

/** What samples have in common with the values of {@link NodeUtilization}. */
class Samples {
  private sum = 0;
  private count = 0;
  private max = 0;

  add(value: number): void {
    this.sum += value;
    this.count += 1;
    this.max = Math.max(this.max, value);
  }

  get summary(): UtilizationSample {
    return { average: whole(this.sum / this.count), max: whole(this.max) };
  }
}

/** Samples what the node uses, and says what it was since it was last asked. */
export class UtilizationSampler {
  private millicores = new Samples();
  private memoryMb = new Samples();
  private diskMb = new Samples();
  private diskTotalMb: number | null = null;

  /** @param failed is told when measuring begins to fail */
  constructor(
    private readonly meter: { measure(): Promise<NodeUse> },
    private readonly failed: (error: Error) => void,
  ) {}

  /** Samples until the signal aborts. */
  async work(signal: AbortSignal): Promise<void> {
    let next = FIRST_MS;
    let isFailing = false;
    while (!signal.aborted) {
      const before = process.cpuUsage();
      try {
        this.add(await this.meter.measure());
        isFailing = false;
      } catch (error) {
        if (!isFailing) this.failed(error as Error);
        isFailing = true;
      }
      const { user, system } = process.cpuUsage(before);
      const spared = Math.min(MAX_INTERVAL_MS, (user + system) / 1000 / MAX_SHARE);
      await pause(next < EVERY_MS ? next : Math.max(EVERY_MS, spared), signal);
      next = Math.min(EVERY_MS, next * 2);
    }
  }

  /** What the node used since this was last called; null when no sample was taken since. */
  take(): NodeUtilization | null {
    const { millicores, memoryMb, diskMb, diskTotalMb } = this;
    if (diskTotalMb === null) return null;
    Object.assign(this, {
      millicores: new Samples(),
      memoryMb: new Samples(),
      diskMb: new Samples(),
      diskTotalMb: null,
    });
    return {
      millicores: millicores.summary,
      memory_mb: memoryMb.summary,
      disk_mb: { ...diskMb.summary, total: whole(diskTotalMb) },
    };
  }

  private add({ millicores, memoryMb, diskMb, diskTotalMb }: NodeUse): void {
    // The use of processors is that between two measurements.
    if (millicores === null) return;
    this.millicores.add(millicores);
    this.memoryMb.add(memoryMb);
    this.diskMb.add(diskMb);
    this.diskTotalMb = diskTotalMb;
  }
}

/** As it is sent: what a kernel says beyond any machine is not. */
function whole(value: number): number {
  return Math.min(MAX_UTILIZATION, Math.max(0, Math.round(value)));
}
