import type { IncomingMessage } from 'node:http';
import type { AuthenticatedRequest, Caller } from '../auth/request-principal';

/** Receives events of a request while it is served. */
export interface RequestListener {
  /** A guard has identified the caller. */
  onAuthenticated?(): void;
  /** The request starts, or stops, waiting for data of the client. */
  onWaiting?(isWaiting: boolean): void;
  /** The caller has lost access, so the work for the request must end. */
  onRevoked?(reason: Error): void;
}

const LISTENERS = Symbol('listeners of the request');

type ObservedRequest = IncomingMessage & { [LISTENERS]?: RequestListener[] };

/** Sends events of the request to the listener from now on. */
export function addRequestListener(request: ObservedRequest, listener: RequestListener): void {
  const listeners = request[LISTENERS];
  if (listeners) listeners.push(listener);
  else request[LISTENERS] = [listener];
}

/** Sets the caller that a guard has identified. Until then, the request counts as unauthenticated. */
export function setCaller(request: AuthenticatedRequest, caller: Caller): void {
  request.caller = caller;
  for (const listener of (request as ObservedRequest)[LISTENERS] ?? []) listener.onAuthenticated?.();
}

/** Ends the work for a request whose caller has lost access. */
export function revoke(request: ObservedRequest, reason: Error): void {
  for (const listener of request[LISTENERS] ?? []) listener.onRevoked?.(reason);
}

/** Waits for data of the client, and reports to the listeners that the request waits. */
export async function awaitClient<T>(request: ObservedRequest, sent: () => Promise<T>): Promise<T> {
  const listeners = request[LISTENERS] ?? [];
  for (const listener of listeners) listener.onWaiting?.(true);
  try {
    return await sent();
  } finally {
    for (const listener of listeners) listener.onWaiting?.(false);
  }
}
