import { MetastoreError } from './metastore-client';
import { connectionFault } from './metastore-fault';

/**
 * Rejects when the deadline passes or `signal` aborts, and aborts the request's own signal without waiting for it. Errors
 * of the request become {@link MetastoreError}s.
 * @param server for messages
 */
export function withRequestDeadline<T>(
  server: string,
  timeoutMs: number,
  signal: AbortSignal,
  request: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const controller = new AbortController();
    const giveUp = () => {
      reject(new MetastoreError('timeout', `${server} did not answer within ${timeoutMs / 1000} seconds.`));
      release();
      controller.abort();
    };
    const timer = setTimeout(giveUp, timeoutMs);
    const release = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
    };
    signal.addEventListener('abort', giveUp, { once: true });
    if (signal.aborted) return giveUp();
    const failed = (error: unknown) => reject(connectionFault(server, error));
    request(controller.signal).then(resolve, failed).finally(release);
  });
}
