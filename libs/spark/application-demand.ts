/** The cores that an application requests, from its page on the master. */
export interface ApplicationDemand {
  isWaiting: boolean;
  /** The part of `spark.cores.max` that the application has not received; null without such a limit. */
  coresLeft: number | null;
  /** The number of executors that dynamic allocation requests now; null without dynamic allocation. */
  executorLimit: number | null;
  executors: number;
  /** Cores of the smallest executor; null if there are no executors. */
  coresPerExecutor: number | null;
}

const CORES = /<strong>Cores:<\/strong>\s*(?:Unlimited|\d+) \(\d+ granted(?:, (-?\d+) left)?\)/;
const LIMIT = /<strong>Executor Limit: <\/strong>\s*(Unlimited|\d+)\s*\((\d+) granted\)/;
const STATE = /<strong>State:<\/strong> ([A-Z]+)</;
/** Matches the id, worker and cores of an executor, which has one row in the first table. */
const EXECUTOR = /<tr>\s*<td>\d+<\/td>\s*<td>\s*<a href="[^"]*">[^<]*<\/a>\s*<\/td>\s*<td>(\d+)<\/td>/g;

/**
 * Reads the page `/app/?appId=` of a standalone master. Only this page shows the limits, and only as HTML, in which names chosen by
 * users are escaped. Returns null for any other page.
 */
export function parseApplicationDemand(page: string): ApplicationDemand | null {
  const [cores, limit, state] = [CORES, LIMIT, STATE].map((pattern) => pattern.exec(page));
  if (!cores || !limit || !state) return null;
  const [present = ''] = page.split('Removed Executors', 1);
  const executorCores = Array.from(present.matchAll(EXECUTOR), ([, number]) => Number(number));
  return {
    isWaiting: state[1] === 'WAITING',
    coresLeft: cores[1] === undefined ? null : Math.max(0, Number(cores[1])),
    executorLimit: limit[1] === 'Unlimited' ? null : Number(limit[1]),
    executors: Number(limit[2]),
    coresPerExecutor: executorCores.length === 0 ? null : Math.max(1, minimum(executorCores)),
  };
}

/**
 * Returns the cores that the application would take if the cluster had more. Only whole executors count, because Spark starts no
 * smaller ones. An application without a limit takes all free cores, so it counts only while it waits for its first executor, whose
 * size is unknown: at minimum one core.
 */
export function pendingCores({
  isWaiting,
  coresLeft,
  executorLimit,
  executors,
  coresPerExecutor,
}: ApplicationDemand): number {
  const size = coresPerExecutor ?? 1;
  const wholeLeft = coresLeft === null ? null : Math.floor(coresLeft / size) * size;
  if (executorLimit !== null) return Math.min(Math.max(0, executorLimit - executors) * size, wholeLeft ?? Infinity);
  if (wholeLeft !== null) return wholeLeft;
  return isWaiting && executors === 0 ? size : 0;
}

function minimum(numbers: readonly number[]): number {
  return numbers.reduce((one, other) => Math.min(one, other));
}
