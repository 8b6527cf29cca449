import type { IncomingMessage, ServerResponse } from 'node:http';

/** How long a client that was answered may go on sending before its connection is closed. */
const LINGER_MS = 10_000;

const discarded = new WeakSet<IncomingMessage>();

/**
 * Reads what a client still sends for a request that is answered, or about to be, so that it gets to read the answer,
 * but not for long: the connection of a client that does not stop, or sends nothing, is closed.
 */
export function drainRequest(request: IncomingMessage, response: ServerResponse): void {
  if (request.complete || request.destroyed || discarded.has(request)) return;
  discarded.add(request);
  const { socket } = request;
  const isLast = !response.shouldKeepAlive;
  // If it were closed together with the answer, the connection would be reset and the answer lost.
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
