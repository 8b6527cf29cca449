import type { IncomingMessage } from 'node:http';
import type { AuthenticatedRequest, Caller } from '../auth/request-principal';

/** Is told about a request while it is served. */
export interface RequestListener {
  /** A guard has identified its caller. */
  onAuthenticated?(): void;
  /** It starts, or stops, waiting for something that the client has yet to send. */
  onWaiting?(isAwaited: boolean): void;
  /** Its caller is no longer admitted: what is under way for it ends. */
  onRevoked?(reason: Error): void;
}

const LISTENERS = Symbol('listeners of the request');

type ObservedRequest = IncomingMessage & { [LISTENERS]?: RequestListener[] };

/** Tells the listener about the request from now on. */
export function addRequestListener(request: ObservedRequest, listener: RequestListener): void {
  const listeners = request[LISTENERS];
  if (listeners) listeners.push(listener);
  else request[LISTENERS] = [listener];
}

/** Records on a request the caller that a guard found; until then it counts as a stranger's. */
export function setCaller(request: AuthenticatedRequest, caller: Caller): void {
  request.caller = caller;
  for (const listener of (request as ObservedRequest)[LISTENERS] ?? []) listener.onAuthenticated?.();
}

/** Ends what is under way for a request whose caller is no longer admitted. */
export function refuse(request: ObservedRequest, reason: Error): void {
  for (const listener of request[LISTENERS] ?? []) listener.onRevoked?.(reason);
}

/** Waits for something that the client has yet to send. */
export async function awaitClient<T>(request: ObservedRequest, sent: () => Promise<T>): Promise<T> {
  const listeners = request[LISTENERS] ?? [];
  for (const listener of listeners) listener.onWaiting?.(true);
  try {
    return await sent();
  } finally {
    for (const listener of listeners) listener.onWaiting?.(false);
  }
}
