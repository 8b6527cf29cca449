import type { IncomingMessage } from 'node:http';
import type { AuthenticatedRequest, Caller } from '../auth/request-principal';

/** Is told about a request while it is served. */
export interface RequestListener {
  /** A guard has identified its caller. */
  onKnown?(): void;
  /** It starts, or stops, waiting for something that the client has yet to send. */
  onAwaited?(isAwaited: boolean): void;
  /** Its caller is no longer admitted: what is under way for it ends. */
  onRefused?(reason: Error): void;
}

const LISTENERS = Symbol('listeners of the request');

type FollowedRequest = IncomingMessage & { [LISTENERS]?: RequestListener[] };

/** Tells the listener about the request from now on. */
export function follow(request: FollowedRequest, listener: RequestListener): void {
  const listeners = request[LISTENERS];
  if (listeners) listeners.push(listener);
  else request[LISTENERS] = [listener];
}

/** Records on a request the caller that a guard found; until then it counts as a stranger's. */
export function noteCaller(request: AuthenticatedRequest, caller: Caller): void {
  request.caller = caller;
  for (const listener of (request as FollowedRequest)[LISTENERS] ?? []) listener.onKnown?.();
}

/** Ends what is under way for a request whose caller is no longer admitted. */
export function refuse(request: FollowedRequest, reason: Error): void {
  for (const listener of request[LISTENERS] ?? []) listener.onRefused?.(reason);
}

/** Waits for something that the client has yet to send. */
export async function awaitClient<T>(request: FollowedRequest, sent: () => Promise<T>): Promise<T> {
  const listeners = request[LISTENERS] ?? [];
  for (const listener of listeners) listener.onAwaited?.(true);
  try {
    return await sent();
  } finally {
    for (const listener of listeners) listener.onAwaited?.(false);
  }
}
