import type { IncomingMessage } from 'node:http';
import type { AuthenticatedRequest, Caller } from '../../auth/request-principal';

/** What wants to hear of a request while it is served. */
interface Followed {
  onKnown: (() => void)[];
  onAwaited: ((isAwaited: boolean) => void) | null;
}

const followed = new WeakMap<IncomingMessage, Followed>();

function entryOf(request: IncomingMessage): Followed {
  const entry = followed.get(request) ?? { onKnown: [], onAwaited: null };
  followed.set(request, entry);
  return entry;
}

/** Notes on a request who sent it, as a guard has found; until then it counts as a stranger's. */
export function noteCaller(request: AuthenticatedRequest, caller: Caller): void {
  request.caller = caller;
  for (const listener of followed.get(request)?.onKnown.splice(0) ?? []) listener();
}

/** Calls back when the caller is known, if that is ever so. */
export function onceKnown(request: IncomingMessage, listener: () => void): void {
  entryOf(request).onKnown.push(listener);
}

/** Waits for something that the client has yet to send. */
export async function awaitClient<T>(request: IncomingMessage, sent: () => Promise<T>): Promise<T> {
  const onAwaited = followed.get(request)?.onAwaited;
  onAwaited?.(true);
  try {
    return await sent();
  } finally {
    onAwaited?.(false);
  }
}

/** Calls back when it begins and ceases to be the client that a request waits for. */
export function whileAwaited(request: IncomingMessage, listener: (isAwaited: boolean) => void): void {
  entryOf(request).onAwaited = listener;
}
