import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import { useCallback } from 'react';

/** Returns what reads the next page of a list, unless there is none or the list is being read. */
export function useMore({
  fetchNextPage,
  hasNextPage,
  isFetching,
}: Pick<UseInfiniteQueryResult, 'fetchNextPage' | 'hasNextPage' | 'isFetching'>): () => void {
  return useCallback(() => {
    if (hasNextPage && !isFetching) void fetchNextPage();
  }, [hasNextPage, isFetching, fetchNextPage]);
}
