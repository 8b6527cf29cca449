import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { consolePath } from '../../api/client';
import { listen, type LiveEvent } from './live-stream';
import { Refresher } from './refresher';

declare module '@tanstack/react-query' {
  interface Register {
    queryMeta: {
      /** True if the query must be read again after the event. */
      isChangedBy?: (event: LiveEvent) => boolean;
      [key: string]: unknown;
    };
  }
}

/** While events come, polling only finds what they do not tell, and what a broken connection has lost. */
const POLL_BESIDE_EVENTS_MS = 30_000;

let areEventsComing = false;

/** Returns the time between two readings of a query that events change. Queries of a hidden page do not poll. */
export function pollMs(withoutEvents: number): number {
  return areEventsComing ? Math.max(withoutEvents, POLL_BESIDE_EVENTS_MS) : withoutEvents;
}

/**
 * Reads queries again when events have changed what they show: those whose `meta` has `isChangedBy`.
 * @param onRefused called when the server refuses the stream of events
 */
export function useLiveQueries(userId: number, tenantId: string | null, onRefused: () => void): void {
  const queries = useQueryClient();
  useEffect(() => {
    if (tenantId === null) return undefined;
    const refresher = new Refresher(queries);
    return listen(`${consolePath}events/${tenantId}/${userId}`, {
      onEvent: (event) => refresher.add(event),
      // Something may have happened in between, and all of them poll in another rhythm from now on.
      onUp: (isUp) => {
        areEventsComing = isUp;
        refresher.addAll();
      },
      onRefused,
    });
  }, [queries, userId, tenantId, onRefused]);
}
