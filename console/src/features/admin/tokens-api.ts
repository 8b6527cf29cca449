import { queryOptions } from '@tanstack/react-query';
import { createToken, listTokens, revokeToken } from 'managed-spark/operations';
import type { TokenCreated } from 'managed-spark/types';
import { api } from '../../api/client';

const PAGE_SIZE = 50;

export const tokensQuery = (pageNumber: number | undefined) =>
  queryOptions({
    queryKey: ['tokens', pageNumber],
    queryFn: ({ signal }) => api.call(listTokens, { query: { limit: PAGE_SIZE, pageNumber }, signal }),
  });

export function makeToken(description: string, timeout: string): Promise<TokenCreated> {
  return api.call(createToken, { body: { description: description || null, timeout } });
}

export function endToken(token_id: number): Promise<unknown> {
  return api.call(revokeToken, { path: { token_id } });
}
