import type { IncomingMessage } from 'node:http';
import type { AuthenticatedRequest, Caller } from '../../auth/request-principal';

/** What wants to hear of a request while it is served. */
export interface RequestListener {
  /** A guard has found who sends it. */
  onKnown?(): void;
  /** It begins, or ceases, to wait for something that the client has yet to send. */
  onAwaited?(isAwaited: boolean): void;
  /** Its caller is admitted no more: what is under way for it ends. */
  onRefused?(reason: Error): void;
}

const LISTENERS = Symbol('listeners of the request');

type FollowedRequest = IncomingMessage & { [LISTENERS]?: RequestListener[] };

/** Has the listener hear of the request from now on. */
export function follow(request: FollowedRequest, listener: RequestListener): void {
  const listeners = request[LISTENERS];
  if (listeners) listeners.push(listener);
  else request[LISTENERS] = [listener];
}

/** Notes on a request who sent it, as a guard has found; until then it counts as a stranger's. */
export function noteCaller(request: AuthenticatedRequest, caller: Caller): void {
  request.caller = caller;
  for (const listener of (request as FollowedRequest)[LISTENERS] ?? []) listener.onKnown?.();
}

/** Ends what is under way for a request whose caller is admitted no more. */
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
