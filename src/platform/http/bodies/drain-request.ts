import type { IncomingMessage, ServerResponse } from 'node:http';

/** Time after the response in which a client may still send before its connection is closed. */
const LINGER_MS = 10_000;

const discarded = new WeakSet<IncomingMessage>();

/**
 * Reads and drops the rest of a request's body, so that the client reads the response. This ends after a while: the
 * connection of a client that does not stop sending, or sends nothing, is closed.
 */
export function drainRequest(request: IncomingMessage, response: ServerResponse): void {
  if (request.complete || request.destroyed || discarded.has(request)) return;
  discarded.add(request);
  const { socket } = request;
  const isLast = !response.shouldKeepAlive;
  // Closing the connection together with the response would reset it, and the response would be lost.
  response.shouldKeepAlive = true;
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  request.once('close', () => {
    clearTimeout(timer);
    if (isLast) onceFinished(response, () => socket.end());
  });
  request.on('error', () => {});
  request.unpipe();
  request.resume();
}

function onceFinished(response: ServerResponse, then: () => void): void {
  if (response.writableFinished) then();
  else response.once('finish', then);
}
