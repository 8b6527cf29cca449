/** What the master's page of one application says of the cores that it asks for. */
export interface ApplicationDemand {
  isWaiting: boolean;
  /** Of `spark.cores.max` that it has not been given; null without such a limit. */
  coresLeft: number | null;
  /** How many executors dynamic allocation asks for at this time; null without dynamic allocation. */
  executorLimit: number | null;
  executors: number;
  /** Of the executor with the fewest; null while there is none. */
  coresPerExecutor: number | null;
}

const CORES = /<strong>Cores:<\/strong>\s*(?:Unlimited|\d+) \(\d+ granted(?:, (-?\d+) left)?\)/;
const LIMIT = /<strong>Executor Limit: <\/strong>\s*(Unlimited|\d+)\s*\((\d+) granted\)/;
const STATE = /<strong>State:<\/strong> ([A-Z]+)</;
/** Id, worker and cores; each executor has one row in the first table. */
const EXECUTOR = /<tr>\s*<td>\d+<\/td>\s*<td>\s*<a href="[^"]*">[^<]*<\/a>\s*<\/td>\s*<td>(\d+)<\/td>/g;

/**
 * Reads the page `/app/?appId=` of a standalone master: only there does it tell the limits, as HTML. Null when it is
 * something else. What users have named is escaped in it.
 */
export function parseApplicationDemand(page: string): ApplicationDemand | null {
  const [cores, limit, state] = [CORES, LIMIT, STATE].map((pattern) => pattern.exec(page));
  if (!cores || !limit || !state) return null;
  const [present = ''] = page.split('Removed Executors', 1);
  const ofExecutors = Array.from(present.matchAll(EXECUTOR), ([, number]) => Number(number));
  return {
    isWaiting: state[1] === 'WAITING',
    coresLeft: cores[1] === undefined ? null : Math.max(0, Number(cores[1])),
    executorLimit: limit[1] === 'Unlimited' ? null : Number(limit[1]),
    executors: Number(limit[2]),
    coresPerExecutor: ofExecutors.length === 0 ? null : Math.max(1, least(ofExecutors)),
  };
}

/**
 * Cores that the application would take if there were more: those of whole executors, for less is never given. One that
 * names no limit takes what there is, so it asks only for its first executor: of unknown size, at least one core.
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

function least(numbers: readonly number[]): number {
  return numbers.reduce((one, other) => Math.min(one, other));
}
