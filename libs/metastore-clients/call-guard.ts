import { MetastoreError } from './metastore-client';

/** Time limits, milliseconds. */
export interface MetastoreTimeouts {
  /** One call of the client, with all its pages and retries. */
  callMs: number;
  /** One request to the metastore and its whole response. */
  requestMs: number;
}

/** Leaves time for ten thousand tables, which take two hundred pages, one after the other. */
export const DEFAULT_TIMEOUTS: MetastoreTimeouts = { callMs: 60_000, requestMs: 20_000 };

/** The limits of a call. */
export interface CallBounds {
  /** Aborts when the call ends for any reason, so that nothing of it keeps running. */
  signal: AbortSignal;
  /** On the clock of `performance.now()`. */
  endsAt: number;
}

/** Ends each call of a client at its deadline, on its caller's signal or with the client, whatever the call waits for. */
export class CallGuard {
  private readonly endings = new Set<(error: MetastoreError) => void>();
  private isClosed = false;

  /** @param server for messages */
  constructor(
    private readonly server: string,
    private readonly callMs: number,
  ) {}

  async run<T>(signal: AbortSignal, call: (bounds: CallBounds) => Promise<T>): Promise<T> {
    const { server, callMs } = this;
    const controller = new AbortController();
    let end: (error: MetastoreError) => void = () => undefined;
    const ended = new Promise<never>((_resolve, reject) => {
      end = (error) => {
        // Reject before aborting, so that the call's own abort error cannot replace this one.
        reject(error);
        controller.abort(error);
      };
    });
    const endsAt = performance.now() + callMs;
    const late = () => end(new MetastoreError('timeout', `${server} did not answer within ${callMs / 1000} seconds.`));
    const timer = setTimeout(late, callMs);
    const onAbort = () => end(new MetastoreError('timeout', `The call to ${server} was cancelled.`));
    signal.addEventListener('abort', onAbort, { once: true });
    this.endings.add(end);
    if (signal.aborted) onAbort();
    if (this.isClosed) end(this.closed());
    try {
      return await Promise.race([
        ended,
        controller.signal.aborted ? ended : call({ signal: controller.signal, endsAt }),
      ]);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      this.endings.delete(end);
      controller.abort();
    }
  }

  /** Rejects all running and later calls. */
  close(): void {
    this.isClosed = true;
    for (const end of this.endings) end(this.closed());
  }

  private closed(): MetastoreError {
    return new MetastoreError('unreachable', `The connection to ${this.server} was closed.`);
  }
}
