import { queryOptions } from '@tanstack/react-query';
import { listClusters, listRuns, listWorkspaces } from 'managed-spark/operations';
import { api } from '../../api/client';
import { orNone } from '../../shared/records';

/** So many records of a kind are offered. */
const MAX_FOUND = 200;
const MAX_RUNS = 30;

/** Workspaces and clusters, which are found by a part of their names. */
export const placesQuery = queryOptions({
  queryKey: ['palette', 'places'],
  queryFn: async ({ signal }) => {
    const query = { limit: MAX_FOUND, enable: true };
    const [workspaces, clusters] = await Promise.all([
      orNone(api.call(listWorkspaces, { query, signal })),
      orNone(api.call(listClusters, { query, signal })),
    ]);
    return { workspaces, clusters };
  },
  staleTime: 30_000,
});

/** The newest runs with the text in their names. */
export const recentRunsQuery = (name: string) =>
  queryOptions({
    queryKey: ['palette', 'runs', name],
    queryFn: async ({ signal }) =>
      orNone(api.call(listRuns, { query: { limit: MAX_RUNS, name: name === '' ? undefined : name }, signal })),
    placeholderData: (before) => before,
  });
