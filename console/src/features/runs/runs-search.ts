import type { ListRunsInput } from 'managed-spark/operations';

type ListQuery = NonNullable<ListRunsInput['query']>;

export const RUN_STATUSES = [
  'SUBMITTED',
  'RUNNING',
  'DONE',
  'ERROR',
  'TERMINATED',
  'STOPPING',
  'STOPPED',
  'KILLING',
  'KILLED',
] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

const SORTS = ['submit_date', 'start_date', 'duration'] as const;
const ORDERS = ['desc', 'asc'] as const;

/** The filters of the list of runs, as they are in the address. */
export interface RunsSearch {
  workspace?: number;
  cluster?: number;
  status?: RunStatus[];
  q?: string;
  sort?: (typeof SORTS)[number];
  order?: (typeof ORDERS)[number];
}

/** True for a run that has not ended. */
export function isActive(status: string): boolean {
  return ['SUBMITTED', 'RUNNING', 'STOPPING', 'KILLING'].includes(status);
}

/** Reads the filters from an address, which anybody can write; what is no filter is left out. */
export function readRunsSearch(search: Record<string, unknown>): RunsSearch {
  const { workspace, cluster, status, q, sort, order } = search;
  const statuses = RUN_STATUSES.filter((known) => listOf(status).includes(known));
  return withoutAbsent({
    workspace: idOf(workspace),
    cluster: idOf(cluster),
    status: statuses.length > 0 ? statuses : undefined,
    q: typeof q === 'string' && q !== '' ? q : undefined,
    sort: SORTS.find((one) => one === sort),
    order: ORDERS.find((one) => one === order),
  });
}

/** Returns the query of the list for the filters. */
export function listQueryOf({ workspace, cluster, status, q, sort, order }: RunsSearch): ListQuery {
  return {
    workspace_id: workspace,
    cluster_ids: cluster === undefined ? undefined : [cluster],
    run_status: status,
    name: q,
    sort,
    order,
  };
}

function idOf(value: unknown): number | undefined {
  return /^\d{1,15}$/.test(String(value)) ? Number(value) : undefined;
}

function listOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : typeof value === 'string' ? value.split(',') : [];
}

/** An absent filter is no part of the address. */
function withoutAbsent<T extends object>(object: T): T {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T;
}
