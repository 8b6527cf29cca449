import { MAX_UTILIZATION, type NodeUtilization, type UtilizationSample } from '../contracts/agent-protocol';
import type { NodeUse } from './node-meter';
import { pause } from './waiting';

/** Time between two samples, milliseconds. The first intervals are shorter, so that a new node soon has samples. */
const FIRST_INTERVAL_MS = 250;
const INTERVAL_MS = 15_000;
/** Maximum interval on a machine with so many processes that measuring takes long. */
const MAX_INTERVAL_MS = 60_000;
/** Maximum share of one core that measuring may use. */
const MAX_CPU_SHARE = 0.002;

/** Sums up samples as in {@link NodeUtilization}. */
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

/** Samples the resources that the node uses, and summarizes them per request. */
export class UtilizationSampler {
  private millicores = new Samples();
  private memoryMb = new Samples();
  private diskMb = new Samples();
  private diskTotalMb: number | null = null;

  /** @param failed called when measuring starts to fail */
  constructor(
    private readonly meter: { measure(): Promise<NodeUse> },
    private readonly failed: (error: Error) => void,
  ) {}

  /** Samples until the signal aborts. */
  async work(signal: AbortSignal): Promise<void> {
    let next = FIRST_INTERVAL_MS;
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
      const minInterval = Math.min(MAX_INTERVAL_MS, (user + system) / 1000 / MAX_CPU_SHARE);
      await pause(next < INTERVAL_MS ? next : Math.max(INTERVAL_MS, minInterval), signal);
      next = Math.min(INTERVAL_MS, next * 2);
    }
  }

  /** Returns the utilization since the last call; null if there was no sample. */
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
    // The first measurement has no processor use, which is the difference between two.
    if (millicores === null) return;
    this.millicores.add(millicores);
    this.memoryMb.add(memoryMb);
    this.diskMb.add(diskMb);
    this.diskTotalMb = diskTotalMb;
  }
}

/** Rounds a value to the range of the wire format: a kernel may report more than any machine has. */
function whole(value: number): number {
  return Math.min(MAX_UTILIZATION, Math.max(0, Math.round(value)));
}
