import { MetastoreError } from './metastore-client';

/** How long things may take, milliseconds. */
export interface MetastoreTimeouts {
  /** A call of the client as a whole, with all its pages and second attempts. */
  callMs: number;
  /** One request to the metastore and its whole answer. */
  requestMs: number;
}

/** Ten thousand tables are two hundred pages, one after the other. */
export const DEFAULT_TIMEOUTS: MetastoreTimeouts = { callMs: 60_000, requestMs: 20_000 };

/** What ends a call. */
export interface CallBounds {
  /** Aborts when the call is over, for whatever reason: what it has left running ends with it. */
  signal: AbortSignal;
  /** On the clock of `performance.now()`. */
  endsAt: number;
}

/** Lets each call of a client end by its deadline, by its caller's signal or with the client, whatever it waits for. */
export class CallGuard {
  private readonly endings = new Set<(error: MetastoreError) => void>();
  private isClosed = false;

  /** @param server who is called, for messages */
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
        // The answer first: the call's own complaint about the abort comes too late to replace it.
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

  /** Rejects the calls under way, and those to come. */
  close(): void {
    this.isClosed = true;
    for (const end of this.endings) end(this.closed());
  }

  private closed(): MetastoreError {
    return new MetastoreError('unreachable', `The connection to ${this.server} was closed.`);
  }
}
