/** The socket closed, was refused, or did not respond in time. */
export class SocketBroken extends Error {
  override name = 'SocketBroken';
}

interface Settle {
  resolve: () => void;
  reject: (error: Error) => void;
  /** Aborted at the end, which removes the listeners. */
  signal: AbortSignal;
}

/**
 * Returns once `begin` has resolved. @throws SocketBroken if the socket closes or the time is over, and the reason of the signal
 * if it is aborted
 */
export async function settled(
  socket: WebSocket,
  { timeoutMs, signal }: { timeoutMs: number; signal?: AbortSignal | undefined },
  begin: (settle: Settle) => void,
): Promise<void> {
  signal?.throwIfAborted();
  const ended = new AbortController();
  const once = { signal: ended.signal };
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      const broke = (why: string) => reject(new SocketBroken(`the socket to its kernel ${why}`));
      timer = setTimeout(() => broke(`did not respond within ${timeoutMs / 1000} s`), timeoutMs);
      socket.addEventListener('close', ({ code, reason }) => broke(`closed (${code} ${reason})`), once);
      socket.addEventListener('error', () => broke('failed'), once);
      signal?.addEventListener('abort', () => reject(signal.reason as Error), once);
      begin({ resolve, reject, signal: ended.signal });
    });
  } finally {
    clearTimeout(timer);
    ended.abort();
  }
}
