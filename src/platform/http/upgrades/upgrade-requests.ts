import { IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { CORRELATION_HEADER } from '../../../../libs/contracts/agent-protocol';
import { overloaded } from '../../kernel/errors/domain-error';
import { toErrorResponse } from '../../kernel/errors/error-response';

/** The connection of a request for a WebSocket, and the bytes that its client sent after the head. */
export interface UpgradeRequest {
  socket: Socket;
  head: Buffer;
}

const upgradeRequests = new WeakMap<IncomingMessage, UpgradeRequest>();

/** Returns the upgrade of a request for a WebSocket; undefined for any other request. */
export function upgradeRequestOf(request: IncomingMessage): UpgradeRequest | undefined {
  return upgradeRequests.get(request);
}

/**
 * A request that counts as an upgrade only if it is for a WebSocket. Node passes every request with an `Upgrade` header to
 * the upgrade listener, without its body, but clients that offer h2c need an ordinary response.
 */
export class WebSocketOnlyRequest extends IncomingMessage {
  private offersUpgrade = false;

  get upgrade(): boolean {
    return this.offersUpgrade && this.method === 'GET' && this.headers.upgrade?.toLowerCase() === 'websocket';
  }

  set upgrade(offered: boolean | null) {
    this.offersUpgrade = offered === true;
  }
}

/**
 * Serves requests for WebSockets like all others, so that they pass the same middlewares, guards and filters. Each gets a
 * response, which carries an error, or stays unused once the handshake is done. It is closed with the connection.
 * @param handshakeTimeoutMs time until the handshake or an error, milliseconds
 */
export function serveUpgrades(server: Server, handshakeTimeoutMs: number): void {
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    // Node has removed its own listeners, and without one an error would end the process.
    socket.on('error', () => socket.destroy());
    const response = new ServerResponse(request);
    // No parser is left to read another request.
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    socket.on('drain', () => response.emit('drain'));
    response.once('finish', () => socket.destroySoon());
    const timer = setTimeout(() => refuseLate(response), handshakeTimeoutMs).unref();
    for (const over of ['finish', 'close', ACCEPTED]) response.once(over, () => clearTimeout(timer));
    upgradeRequests.set(request, { socket, head });
    server.emit('request', request, response);
  });
}

/** Event of an upgrade's response: the handshake is done. */
export const ACCEPTED = 'accepted';

/** Sends a 503 unless a response has been sent. A handler that ends later finds that it was sent. */
function refuseLate(response: ServerResponse): void {
  if (response.headersSent) return;
  const id = response.getHeader(CORRELATION_HEADER);
  const late = overloaded('REQUEST.TIMEOUT', 'The connection could not be opened in time. Send the request again.');
  const { status, body } = toErrorResponse(late, typeof id === 'string' ? id : 'none', false);
  response.statusCode = status;
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.end(JSON.stringify(body));
}
