import { queryOptions } from '@tanstack/react-query';
import { listAuditEvents } from 'managed-spark/operations';
import { api } from '../../api/client';
import type { AuditSearch } from './audit-search';

const PAGE_SIZE = 100;
const HOUR_MS = 3_600_000;
/** The list is read again so often while it is visible. */
const POLL_MS = 10_000;

export const auditQuery = (search: AuditSearch) => {
  const { user: username, operation, outcome, period, correlation: correlation_id, page: pageNumber } = search;
  return queryOptions({
    queryKey: ['audit', { username, operation, outcome, period, correlation_id, pageNumber }],
    queryFn: ({ signal }) => {
      const from = period && new Date(Date.now() - Number(period) * HOUR_MS).toISOString();
      const query = { limit: PAGE_SIZE, pageNumber, username, operation, outcome, correlation_id, from };
      return api.call(listAuditEvents, { query, signal });
    },
    refetchInterval: POLL_MS,
  });
};
