import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { listRuns } from 'managed-spark/operations';
import { api } from '../../api/client';
import { pollMs } from '../../shared/live/live-queries';
import { listQueryOf, type RunsSearch } from './runs-search';

const PAGE_SIZE = 200;
/** The newest rows, which are read again and again. */
const HEAD_SIZE = 100;

/** Every screen reads a list so often while it is visible and no events come. */
const POLL_MS = 5_000;

/** Pages of the runs that match the filters. */
export const runsQuery = (search: RunsSearch) =>
  infiniteQueryOptions({
    queryKey: ['runs', search],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) =>
      api.call(listRuns, { query: { ...listQueryOf(search), limit: PAGE_SIZE, after: pageParam }, signal }),
    getNextPageParam: ({ result_set: { next } }) => next,
    // New runs come with the head of the list, so pages that were read are not read again.
    staleTime: Infinity,
    gcTime: 60_000,
  });

/** The first rows of the list, as they are now. */
export const runsHeadQuery = (search: RunsSearch) =>
  queryOptions({
    queryKey: ['runs-head', search],
    queryFn: ({ signal }) => api.call(listRuns, { query: { ...listQueryOf(search), limit: HEAD_SIZE }, signal }),
    meta: { isChangedBy: ({ kind }) => kind === 'run' },
    refetchInterval: () => pollMs(POLL_MS),
  });
