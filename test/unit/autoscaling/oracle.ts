import type { Load } from './loads';
import { STOPS_WITHIN_MS, type Outcome } from './simulation';

const GRID_MS = 5_000;
/** Widths of the examined windows, and the distance from one window to the next. */
const WIDTHS_MS = [0.5, 1, 2, 3, 4, 6, 8, 15].map((minutes) => minutes * 60_000);
const STEP_MS = 30_000;

export interface Oracle {
  /** A lower bound of the node time of every schedule that the oracle may choose. */
  nodeMs: number;
  /** Number of rises and falls of the number of nodes in this bound. */
  changes: number;
}

/** The interval in which the oracle may begin a run. */
interface Begin {
  earliest: number;
  latest: number;
  lastsMs: number;
}

/**
 * Returns the minimum cost of an oracle that knows all runs in advance and lets none of them wait longer than the policy did,
 * so that its mean waiting time is equal or better. It has the same cluster: minimum, maximum, slots, first come first
 * served, and the times that nodes take to start and to stop. It, too, removes a node only after nothing ran on it
 * for the clean-up timeout. It may request nodes before they are needed and place runs freely, and the provider
 * always has machines for it.
 *
 * A run begins no later than under the policy, and no earlier than if the cluster always had its maximum of nodes. So it
 * takes at least the smaller of both extremes' shares of any window. The shares of all runs, divided by the window's
 * length and the slots of a node and rounded up, give the nodes that are busy together at some moment of the window. These
 * were requested one start time before that moment, and end no earlier than the timeout and the time to stop after it. Whatever the
 * moment was, they are paid for from the end of the window less the start time to the begin of the window plus the rest.
 * The bound is the maximum of these numbers at each moment, over all windows and single moments.
 */
export function oracleOf(load: Load, outcome: Outcome): Oracle {
  const { minInstances, maxInstances, maxParallelJobs, startTimeMs, cleanUpTimeoutMs } = load;
  const begins = beginsOf(load, outcome);
  const paid = new Int32Array(Math.floor(outcome.until / GRID_MS)).fill(minInstances);
  // For each number of nodes, the cell up to which it is paid: the windows of one width come in order.
  let filled: number[] = [];
  const need = (begin: number, end: number, slots: number) => {
    const nodes = Math.min(maxInstances, Math.ceil(slots / maxParallelJobs - 1e-9));
    if (nodes <= minInstances) return;
    const from = Math.max(0, Math.ceil((end - startTimeMs) / GRID_MS));
    const to = Math.min(paid.length, Math.floor((begin + cleanUpTimeoutMs + STOPS_WITHIN_MS) / GRID_MS));
    for (let cell = Math.max(from, filled[nodes] ?? 0); cell < to; cell += 1)
      if ((paid[cell] ?? 0) < nodes) paid[cell] = nodes;
    filled[nodes] = Math.max(to, filled[nodes] ?? 0);
  };
  for (const { at, slots } of momentsOf(begins)) need(at, at, slots);
  for (const width of WIDTHS_MS) {
    filled = [];
    sharesOf(begins, width, outcome.until).forEach((slotMs, step) => {
      need(step * STEP_MS, step * STEP_MS + width, slotMs / width);
    });
  }
  return summed(load, paid, outcome.until);
}

/**
 * If runs begin in order of arrival, more slots let no run begin later. An outage at the very beginning
 * finds the cluster at its minimum; nobody gets more nodes before it is over.
 */
function beginsOf(load: Load, { runs }: Outcome): Begin[] {
  const { minInstances, maxInstances, maxParallelJobs, outages, startTimeMs } = load;
  const outage = outages.find(({ from }) => from === 0);
  const others = outage === undefined ? 0 : outage.to + startTimeMs;
  const slots = Array.from({ length: maxInstances * maxParallelJobs }, (_, slot) =>
    slot < minInstances * maxParallelJobs ? 0 : others,
  );
  return runs.map(({ arrivesAt, startsAt, lastsMs }) => {
    const slot = slots.indexOf(Math.min(...slots));
    const earliest = Math.max(arrivesAt, slots[slot] ?? 0);
    slots[slot] = earliest + lastsMs;
    return { earliest, latest: startsAt, lastsMs };
  });
}

/** Returns the slots that are busy in every schedule, at each moment at which their number rises. */
function momentsOf(begins: readonly Begin[]): { at: number; slots: number }[] {
  const certain = begins.filter(({ earliest, latest, lastsMs }) => latest < earliest + lastsMs);
  const ends = certain.map(({ earliest, lastsMs }) => earliest + lastsMs).toSorted((a, b) => a - b);
  let ended = 0;
  return certain.map(({ latest: at }, index) => {
    while ((ends[ended] ?? Infinity) <= at) ended += 1;
    return { at, slots: index + 1 - ended };
  });
}

/** Returns the minimum slot time of the runs in windows of one width, by the step at which a window begins. */
function sharesOf(begins: readonly Begin[], width: number, until: number): Float64Array {
  const shares = new Float64Array(Math.ceil(until / STEP_MS) + 1);
  for (const { earliest, latest, lastsMs } of begins) {
    const first = Math.max(0, Math.ceil((latest - width) / STEP_MS));
    for (let step = first; step * STEP_MS < earliest + lastsMs; step += 1) {
      const from = step * STEP_MS;
      const least = Math.min(overlap(earliest, lastsMs, from, width), overlap(latest, lastsMs, from, width));
      if (least > 0) shares[step] = (shares[step] ?? 0) + least;
    }
  }
  return shares;
}

function overlap(at: number, length: number, otherAt: number, otherLength: number): number {
  return Math.max(0, Math.min(at + length, otherAt + otherLength) - Math.max(at, otherAt));
}

function summed({ minInstances }: Load, paid: Int32Array, until: number): Oracle {
  let nodeMs = minInstances * (until - paid.length * GRID_MS);
  let changes = 0;
  paid.forEach((nodes, cell) => {
    nodeMs += nodes * GRID_MS;
    if (nodes !== (cell === 0 ? minInstances : paid[cell - 1])) changes += 1;
  });
  return { nodeMs, changes };
}
