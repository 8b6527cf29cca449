import { IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { CORRELATION_HEADER } from '../../../../libs/contracts/agent-protocol';
import { overloaded } from '../../kernel/errors/domain-error';
import { toErrorResponse } from '../../kernel/errors/error-response';

/** The connection of a request that asks for a WebSocket, and what its client sent after the head. */
export interface UpgradeRequest {
  socket: Socket;
  head: Buffer;
}

const asked = new WeakMap<IncomingMessage, UpgradeRequest>();

/** The WebSocket that the request asks for; undefined for any other request. */
export function upgradeRequestOf(request: IncomingMessage): UpgradeRequest | undefined {
  return asked.get(request);
}

/**
 * A request that counts as an upgrade only if it asks for a WebSocket. Node hands every request with an `Upgrade`
 * header to the upgrade listener, without its body; but clients that offer h2c want an ordinary answer.
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
 * Serves requests for WebSockets like all others, so that they pass the same middlewares, guards and filters: with a
 * response of their own, which carries an error or stays unused once the handshake is done. It is closed with the
 * connection.
 * @param handshakeMs how long it may take until either
 */
export function serveUpgrades(server: Server, handshakeMs: number): void {
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    // Node has taken off its own listeners; without one an error would end the process.
    socket.on('error', () => socket.destroy());
    const response = new ServerResponse(request);
    // Nobody is left to read another request.
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    socket.on('drain', () => response.emit('drain'));
    response.once('finish', () => socket.destroySoon());
    const timer = setTimeout(() => refuseLate(response), handshakeMs).unref();
    for (const over of ['finish', 'close', ACCEPTED]) response.once(over, () => clearTimeout(timer));
    asked.set(request, { socket, head });
    server.emit('request', request, response);
  });
}

/** Event of the response of an upgrade: the handshake is done. */
export const ACCEPTED = 'accepted';

/** Whatever comes later finds the answer already given. */
function refuseLate(response: ServerResponse): void {
  if (response.headersSent) return;
  const id = response.getHeader(CORRELATION_HEADER);
  const late = overloaded('REQUEST.TIMEOUT', 'The connection could not be opened in time. Send the request again.');
  const { status, body } = toErrorResponse(late, typeof id === 'string' ? id : 'none', false);
  response.statusCode = status;
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.end(JSON.stringify(body));
}
