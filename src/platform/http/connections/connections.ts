import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { drainRequest } from '../bodies/drain-request';
import { addRequestListener, type RequestListener } from './request-caller';
import { rejectMalformed } from './malformed-requests';

export interface ConnectionLimits {
  /** Maximum of all open connections. */
  all: number;
  /** Maximum of unauthenticated connections. */
  unknown: number;
  /** Maximum of unauthenticated connections of one address; null if addresses are those of proxies. */
  unknownOfAddress: number | null;
  /** A client that takes this long to read the rest of a complete response is disconnected after at most twice this time, milliseconds. */
  readTimeoutMs: number;
}

/** Maximum of requests that a client may send ahead of their responses; ordinary clients send none. */
const MAX_PIPELINED = { known: 32, unknown: 4 };

/** A connection and its state. It listens to the requests that arrive on it. */
class Connection implements RequestListener {
  readonly address: string;
  /** True once a guard has identified the caller of a request on it. */
  isKnown = false;
  /** Number of requests without a complete response. */
  requests = 0;
  /** Number of these requests that wait for the rest of their bodies. */
  waiting = 0;
  /** Response to the latest request. */
  response: ServerResponse | null = null;
  /** Time since which the response is complete but not read by the client, by the monotonic clock; milliseconds. */
  unreadSince: number | null = null;

  constructor(
    readonly socket: Socket,
    private readonly connections: {
      onAuthenticated(connection: Connection): void;
      onChange(connection: Connection): void;
    },
  ) {
    this.address = socket.remoteAddress ?? '';
  }

  onAuthenticated(): void {
    if (!this.isKnown) this.connections.onAuthenticated(this);
  }

  onWaiting(isWaiting: boolean): void {
    this.waiting += isWaiting ? 1 : -1;
    this.connections.onChange(this);
  }
}

/**
 * Bounds the connections of a server. A connection over the limit closes the one that has waited longest for its client, so
 * that a client that opens connections and abandons them loses its own, and a new client gets in. Connections with requests
 * being served are never closed, so a new one is refused only if there are no others.
 */
export class Connections {
  private readonly open = new Map<Socket, Connection>();
  /** Connections that wait for their clients, the longest waiting first. */
  private readonly waiting = { known: new Set<Connection>(), unknown: new Set<Connection>() };
  private readonly waitingOfAddress = new Map<string, Set<Connection>>();
  private readonly unknownOfAddress = new Map<string, number>();
  private unknown = 0;

  constructor(private readonly limits: ConnectionLimits) {}

  watch(server: Server): void {
    const timer = setInterval(() => this.closeUnread(), this.limits.readTimeoutMs / 2).unref();
    server.once('close', () => clearInterval(timer));
    server.on('connection', (socket: Socket) => this.onConnection(socket));
    server.on('clientError', (error, socket) => this.onClientError(error, socket as Socket));
    server.prependListener('request', (request: IncomingMessage, response: ServerResponse) =>
      this.onRequest(request, response),
    );
  }

  /** Moves a connection from the unauthenticated ones to those of known callers. */
  onAuthenticated(connection: Connection): void {
    if (!this.open.has(connection.socket)) return;
    this.removeWaiting(connection);
    this.leaveUnknown(connection);
    connection.isKnown = true;
    this.onChange(connection);
  }

  /** Puts a connection at the end of those that wait for their clients, or removes it from them. */
  onChange(connection: Connection): void {
    this.removeWaiting(connection);
    const { requests, waiting, isKnown, address } = connection;
    if (!this.open.has(connection.socket)) return;
    if (isKnown) {
      // Bodies of known callers are bounded elsewhere, so only a connection without a request may be closed.
      if (requests === 0) this.waiting.known.add(connection);
    } else if (requests === waiting) {
      this.waiting.unknown.add(connection);
      const ofAddress = this.waitingOfAddress.get(address) ?? new Set();
      this.waitingOfAddress.set(address, ofAddress.add(connection));
    }
  }

  private onConnection(socket: Socket): void {
    const connection = new Connection(socket, this);
    const { address } = connection;
    if (!this.makeRoom(address)) {
      socket.destroy();
      return;
    }
    this.open.set(socket, connection);
    this.unknown += 1;
    this.unknownOfAddress.set(address, (this.unknownOfAddress.get(address) ?? 0) + 1);
    this.onChange(connection);
    socket.once('close', () => this.forget(connection));
  }

  /** The client sent something that is not a request, or an incomplete one. */
  private onClientError(error: Error, socket: Socket): void {
    const connection = this.open.get(socket);
    const { requests = 0, response = null } = connection ?? {};
    const isAnswering = requests > 1 || (requests === 1 && response?.headersSent === true);
    // The connection is closed if a response has begun, so that the client does not take it for a complete one.
    if (!connection || isAnswering) socket.destroy(error);
    else rejectMalformed(error, socket);
  }

  /** True if one more connection may be opened. Closes another one for it if necessary. */
  private makeRoom(address: string): boolean {
    const { all, unknown, unknownOfAddress } = this.limits;
    const { waiting } = this;
    const isRoom = (isFull: boolean, ...candidates: (Set<Connection> | undefined)[]) =>
      !isFull || candidates.some((connections) => this.closeFirst(connections));
    const ofAddress = this.unknownOfAddress.get(address) ?? 0;
    return (
      isRoom(unknownOfAddress !== null && ofAddress >= unknownOfAddress, this.waitingOfAddress.get(address)) &&
      isRoom(this.unknown >= unknown, waiting.unknown) &&
      isRoom(this.open.size >= all, waiting.unknown, waiting.known)
    );
  }

  private closeFirst(connections: Set<Connection> | undefined): boolean {
    for (const connection of connections ?? []) {
      connection.socket.destroy();
      // The connection is forgotten at once, because the check of the next new connection relies on the counts.
      this.forget(connection);
      return true;
    }
    return false;
  }

  private onRequest(request: IncomingMessage, response: ServerResponse): void {
    const connection = this.open.get(request.socket);
    if (!connection) return;
    connection.requests += 1;
    connection.response = response;
    if (connection.requests > (connection.isKnown ? MAX_PIPELINED.known : MAX_PIPELINED.unknown)) {
      connection.socket.destroy();
      return;
    }
    this.onChange(connection);
    addRequestListener(request, connection);
    response.once('close', () => {
      drainRequest(request, response);
      connection.requests -= 1;
      connection.unreadSince = null;
      this.onChange(connection);
    });
  }

  /** Closes connections whose clients do not read the rest of a complete response, because it stays in memory. */
  private closeUnread(): void {
    const now = performance.now();
    for (const connection of this.open.values()) {
      const { response, unreadSince, socket } = connection;
      if (!response?.writableEnded || response.writableFinished) continue;
      if (unreadSince === null) connection.unreadSince = now;
      else if (now - unreadSince >= this.limits.readTimeoutMs) socket.destroy();
    }
  }

  private removeWaiting(connection: Connection): void {
    if (connection.isKnown) {
      this.waiting.known.delete(connection);
      return;
    }
    this.waiting.unknown.delete(connection);
    const ofAddress = this.waitingOfAddress.get(connection.address);
    ofAddress?.delete(connection);
    if (ofAddress?.size === 0) this.waitingOfAddress.delete(connection.address);
  }

  private forget(connection: Connection): void {
    if (!this.open.delete(connection.socket)) return;
    this.removeWaiting(connection);
    if (!connection.isKnown) this.leaveUnknown(connection);
  }

  private leaveUnknown({ address }: Connection): void {
    this.unknown -= 1;
    const rest = (this.unknownOfAddress.get(address) ?? 0) - 1;
    if (rest > 0) this.unknownOfAddress.set(address, rest);
    else this.unknownOfAddress.delete(address);
  }
}
