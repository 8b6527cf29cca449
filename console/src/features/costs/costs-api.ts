import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import {
  getRunCost,
  listCostIntervals,
  type ListCostIntervalsInput,
  listCosts,
  type ListCostsInput,
} from 'managed-spark/operations';
import { api } from '../../api/client';
import { costTexts } from '../../shared/cost-texts';
import { number } from '../../shared/texts';
import { csvOfLines } from './costs-csv';
import { type CostsSearch, daysOf, type IntervalsOf, type Part, type Period } from './costs-search';

const PAGE_SIZE = 100;
const CSV_PAGE_SIZE = 1_000;
const MAX_CSV_LINES = 100_000;
/** Records that a filter offers; the dearest are among them. */
const MAX_OPTIONS = 200;
/** Costs grow while nodes run; what was read so recently is shown as it is. */
const STALE_MS = 20_000;

/** A request for costs without the page. */
export type CostsQuery = NonNullable<ListCostsInput['query']>;

/** Returns the request for the costs of a period, divided by a part. */
export function costsQueryOf(search: CostsSearch, { from, to }: Period, by: Part): CostsQuery {
  const { workspace, cluster, user } = search;
  return {
    from,
    until: to,
    by,
    ...(workspace !== undefined && { workspace_id: workspace }),
    ...(cluster !== undefined && { cluster_ids: [cluster] }),
    ...(user !== undefined && { created_by_ids: [user] }),
  };
}

/** Pages of the lines; each page also has the sums of the whole period. */
export const linesQuery = (query: CostsQuery) =>
  infiniteQueryOptions({
    queryKey: ['costs', 'lines', query],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) =>
      api.call(listCosts, { query: { ...query, limit: PAGE_SIZE, after: pageParam }, signal }),
    getNextPageParam: ({ result_set: { next } }) => next,
    staleTime: STALE_MS,
  });

/** The days of the period, for the chart. */
export const daysQuery = (query: CostsQuery) =>
  queryOptions({
    queryKey: ['costs', 'days', query],
    queryFn: ({ signal }) => {
      const limit = daysOf({ from: query.from, to: query.until }).length;
      return api.call(listCosts, { query: { ...query, by: 'day', limit: Math.max(1, limit) }, signal });
    },
    staleTime: STALE_MS,
  });

/** The workspaces, clusters or users with costs in the period, which a filter offers. */
export const optionsQuery = ({ from, to }: Period, by: 'workspace' | 'cluster' | 'user') =>
  queryOptions({
    queryKey: ['costs', 'options', from, to, by],
    queryFn: ({ signal }) => api.call(listCosts, { query: { from, until: to, by, limit: MAX_OPTIONS }, signal }),
    staleTime: STALE_MS,
  });

/** The cost of a run, with the intervals of the ledger that prove it. */
export const runCostQuery = (workspaceId: number, runId: number) =>
  queryOptions({
    queryKey: ['costs', 'run', workspaceId, runId],
    queryFn: ({ signal }) => api.call(getRunCost, { path: { workspace_id: workspaceId, run_id: runId }, signal }),
    staleTime: STALE_MS,
  });

/** A request for intervals of the ledger without the page. */
export type IntervalsQuery = NonNullable<ListCostIntervalsInput['query']>;

/** Returns the request for the intervals that a sum consists of. */
export function intervalsQueryOf({ from, to, cluster }: IntervalsOf): IntervalsQuery {
  return { from, until: to, ...(cluster !== null && { cluster_ids: [cluster] }) };
}

/** Pages of the intervals; each page also has their sum. */
export const intervalsQuery = (query: IntervalsQuery) =>
  infiniteQueryOptions({
    queryKey: ['costs', 'intervals', query],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) =>
      api.call(listCostIntervals, { query: { ...query, limit: PAGE_SIZE, after: pageParam }, signal }),
    getNextPageParam: ({ result_set: { next } }) => next,
    staleTime: STALE_MS,
  });

/** Returns the command that prints the same lines. */
export function commandOf({
  from,
  until,
  by,
  workspace_id: workspace,
  cluster_ids: clusters,
  created_by_ids: users,
}: CostsQuery): string {
  const filters = [
    workspace === undefined ? '' : ` -w ${workspace}`,
    clusters?.[0] === undefined ? '' : ` -c ${clusters[0]}`,
    users?.[0] === undefined ? '' : ` --user ${users[0]}`,
  ];
  return `msp costs --from ${from} --until ${until} --by ${by}${filters.join('')}`;
}

/** Reads all lines, those that the screen has not loaded, too. Lines of nodes and runs that have not ended may grow meanwhile. */
export async function readCsv(query: CostsQuery, by: Part): Promise<Blob> {
  // Spreadsheets take the text for UTF-8 if it begins with this character.
  const parts = ['\ufeff'];
  let count = 0;
  for (let after: string | null | undefined; after !== null;) {
    const page = await api.call(listCosts, { query: { ...query, limit: CSV_PAGE_SIZE, after } });
    parts.push(csvOfLines(by, page.data, count === 0));
    count += page.data.length;
    after = page.result_set.next;
    if (after !== null && count >= MAX_CSV_LINES) throw new Error(costTexts.csv.tooLong(number(MAX_CSV_LINES)));
  }
  return new Blob(parts, { type: 'text/csv;charset=utf-8' });
}
