import { queryOptions } from '@tanstack/react-query';
import { getUserInfo } from 'managed-spark/operations';
import { api } from '../../api/client';

/** The signed-in user, whom the shell has requested already. */
export const ownUserQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }) => api.call(getUserInfo, { signal }),
  staleTime: Infinity,
});
