import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { drainRequest } from '../bodies/drain-request';
import { addRequestListener, type RequestListener } from './request-caller';
import { rejectMalformed } from './malformed-requests';

export interface ConnectionLimits {
  /** Open connections of any kind. */
  all: number;
  /** How many of them may be unauthenticated. */
  unknown: number;
  /** How many of these one address may have; null if addresses are those of proxies. */
  unknownOfAddress: number | null;
  /** How long a client may take to receive the rest of a complete answer, milliseconds; at most twice that. */
  readTimeoutMs: number;
}

/** Requests that a client sends ahead of their answers; ordinary ones send none. */
const MAX_AHEAD = { known: 32, unknown: 4 };

/** A connection, and what is known about it. It is told of the requests that arrive on it. */
class Connection implements RequestListener {
  readonly address: string;
  /** Whether a request on it was admitted by a guard that knows its caller. */
  isKnown = false;
  /** Requests that have arrived and are not answered. */
  requests = 0;
  /** How many of them wait for the rest of their bodies. */
  awaited = 0;
  /** Of the latest request. */
  response: ServerResponse | null = null;
  /**
   * Since when the answer has been complete without the client having received all of it; by the monotonic clock,
   * milliseconds.
   */
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

  onWaiting(isAwaited: boolean): void {
    this.awaited += isAwaited ? 1 : -1;
    this.connections.onChange(this);
  }
}

/**
 * Bounds the connections of a server. If there is one too many, the one that has waited longest for its client is
 * closed: whoever opens connections and abandons them loses their own, and a newcomer gets in. Connections with
 * requests being served are left alone, so a newcomer is refused only if there are no others.
 */
export class Connections {
  private readonly open = new Map<Socket, Connection>();
  /** Those that wait for their clients, the longest waiting first. */
  private readonly waiting = { known: new Set<Connection>(), unknown: new Set<Connection>() };
  private readonly waitingOfAddress = new Map<string, Set<Connection>>();
  private readonly unknownOfAddress = new Map<string, number>();
  private unknown = 0;

  constructor(private readonly limits: ConnectionLimits) {}

  watch(server: Server): void {
    const timer = setInterval(() => this.closeUntaken(), this.limits.readTimeoutMs / 2).unref();
    server.once('close', () => clearInterval(timer));
    server.on('connection', (socket: Socket) => this.onConnection(socket));
    server.on('clientError', (error, socket) => this.onClientError(error, socket as Socket));
    server.prependListener('request', (request: IncomingMessage, response: ServerResponse) =>
      this.onRequest(request, response),
    );
  }

  /** A guard has identified the caller of a request on it. */
  onAuthenticated(connection: Connection): void {
    if (!this.open.has(connection.socket)) return;
    this.takeOut(connection);
    this.leaveUnknown(connection);
    connection.isKnown = true;
    this.onChange(connection);
  }

  /** Puts a connection at the end of those that wait for their clients, or takes it out of them. */
  onChange(connection: Connection): void {
    this.takeOut(connection);
    const { requests, awaited, isKnown, address } = connection;
    if (!this.open.has(connection.socket)) return;
    if (isKnown) {
      // Its bodies are bounded elsewhere; only one without a request is closed for another.
      if (requests === 0) this.waiting.known.add(connection);
    } else if (requests === awaited) {
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

  /** What arrives is not a request, or the rest of one is missing. */
  private onClientError(error: Error, socket: Socket): void {
    const connection = this.open.get(socket);
    const { requests = 0, response = null } = connection ?? {};
    const isAnswering = requests > 1 || (requests === 1 && response?.headersSent === true);
    // An answer that has begun must not be mistaken for a complete one.
    if (!connection || isAnswering) socket.destroy(error);
    else rejectMalformed(error, socket);
  }

  /** Whether one more may be opened, after another one was closed for it if need be. */
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
      // Now, not when the socket reports it: the next newcomer relies on it.
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
    if (connection.requests > (connection.isKnown ? MAX_AHEAD.known : MAX_AHEAD.unknown)) {
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

  /** The rest of a complete answer stays in memory: a client must not leave it there. */
  private closeUntaken(): void {
    const now = performance.now();
    for (const connection of this.open.values()) {
      const { response, unreadSince, socket } = connection;
      if (!response?.writableEnded || response.writableFinished) continue;
      if (unreadSince === null) connection.unreadSince = now;
      else if (now - unreadSince >= this.limits.readTimeoutMs) socket.destroy();
    }
  }

  private takeOut(connection: Connection): void {
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
    this.takeOut(connection);
    if (!connection.isKnown) this.leaveUnknown(connection);
  }

  private leaveUnknown({ address }: Connection): void {
    this.unknown -= 1;
    const rest = (this.unknownOfAddress.get(address) ?? 0) - 1;
    if (rest > 0) this.unknownOfAddress.set(address, rest);
    else this.unknownOfAddress.delete(address);
  }
}
