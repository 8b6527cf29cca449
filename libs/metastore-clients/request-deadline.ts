import { MetastoreError } from './metastore-client';
import { connectionFault } from './metastore-fault';

/**
 * Runs one request until its deadline or until `signal` aborts; the request's own signal tells it to give up. It is not
 * awaited then. What it fails with is thrown as {@link MetastoreError}.
 * @param server who is asked, for messages
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
