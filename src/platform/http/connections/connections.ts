import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { discardRest } from '../bodies/discard-rest';
import { onceKnown, whileAwaited } from './request-caller';

export interface ConnectionLimits {
  /** Open connections of any kind. */
  all: number;
  /** Of them, those on which nobody has authenticated. */
  unknown: number;
  /** Of these, those of one address; null where addresses are those of proxies. */
  unknownOfAddress: number | null;
  /** How long a client may take for what is left of an answer that is complete, milliseconds. */
  answerTakenMs: number;
}

/** Requests that a client sends ahead of their answers; ordinary ones send none. */
const MAX_PIPELINED = 32;

interface Connection {
  address: string;
  /** Whether a request on it was admitted by a guard that knows its caller. */
  isKnown: boolean;
  /** Requests that have come and are not answered. */
  requests: number;
  /** Of them, those that wait for the rest of their bodies. */
  awaited: number;
}

/**
 * Bounds the connections of a server. Where one is too many, the one that has waited longest for its client is closed:
 * whoever opens connections and leaves them has closed the own ones, and a newcomer gets in. Connections whose requests
 * are at work are let be, so that a newcomer is refused only when there are no others.
 */
export class Connections {
  private readonly open = new Map<Socket, Connection>();
  /** Those that wait for their clients, the longest waiting first. */
  private readonly waiting = { known: new Set<Socket>(), unknown: new Set<Socket>() };
  private readonly waitingOfAddress = new Map<string, Set<Socket>>();
  private readonly unknownOfAddress = new Map<string, number>();
  private unknown = 0;

  constructor(private readonly limits: ConnectionLimits) {}

  watch(server: Server): void {
    server.on('connection', (socket: Socket) => this.onConnection(socket));
    server.prependListener('request', (request: IncomingMessage, response: ServerResponse) =>
      this.onRequest(request, response),
    );
  }

  private onConnection(socket: Socket): void {
    const address = socket.remoteAddress ?? '';
    if (!this.makeRoom(address)) {
      socket.destroy();
      return;
    }
    const connection = { address, isKnown: false, requests: 0, awaited: 0 };
    this.open.set(socket, connection);
    this.unknown += 1;
    this.unknownOfAddress.set(address, (this.unknownOfAddress.get(address) ?? 0) + 1);
    this.sort(socket, connection);
    socket.once('close', () => this.forget(socket, connection));
  }

  /** Whether one more may be opened, after another one was closed for it if need be. */
  private makeRoom(address: string): boolean {
    const { all, unknown, unknownOfAddress } = this.limits;
    const { waiting } = this;
    const isRoom = (isFull: boolean, ...candidates: (Set<Socket> | undefined)[]) =>
      !isFull || candidates.some((sockets) => this.closeFirst(sockets));
    const ofAddress = this.unknownOfAddress.get(address) ?? 0;
    return (
      isRoom(unknownOfAddress !== null && ofAddress >= unknownOfAddress, this.waitingOfAddress.get(address)) &&
      isRoom(this.unknown >= unknown, waiting.unknown) &&
      isRoom(this.open.size >= all, waiting.unknown, waiting.known)
    );
  }

  private closeFirst(sockets: Set<Socket> | undefined): boolean {
    for (const socket of sockets ?? []) {
      const connection = this.open.get(socket);
      socket.destroy();
      // Now, and not when the socket says so: the next newcomer counts on it.
      if (connection) this.forget(socket, connection);
      return true;
    }
    return false;
  }

  private onRequest(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const connection = this.open.get(socket);
    if (!connection) return;
    connection.requests += 1;
    if (connection.requests > MAX_PIPELINED) {
      socket.destroy();
      return;
    }
    this.sort(socket, connection);
    onceKnown(request, () => this.admit(socket, connection));
    whileAwaited(request, (isAwaited) => {
      connection.awaited += isAwaited ? 1 : -1;
      this.sort(socket, connection);
    });
    // What is left of a complete answer is kept in memory: a client must not leave it there.
    let untaken: NodeJS.Timeout | undefined;
    response.once('prefinish', () => {
      untaken = setTimeout(() => socket.destroy(), this.limits.answerTakenMs).unref();
    });
    response.once('finish', () => discardRest(request, response));
    response.once('close', () => {
      clearTimeout(untaken);
      connection.requests -= 1;
      this.sort(socket, connection);
    });
  }

  private admit(socket: Socket, connection: Connection): void {
    if (connection.isKnown || !this.open.has(socket)) return;
    this.leaveUnknown(connection);
    connection.isKnown = true;
    this.sort(socket, connection);
  }

  /** Puts a connection at the end of those that wait for their clients, or among none of them. */
  private sort(socket: Socket, connection: Connection): void {
    this.takeOut(socket, connection);
    const isWaiting = connection.requests === 0 || connection.awaited === connection.requests;
    if (!isWaiting || !this.open.has(socket)) return;
    if (connection.isKnown) {
      // Its bodies are bounded otherwise; only one without a request is closed for another.
      if (connection.requests === 0) this.waiting.known.add(socket);
      return;
    }
    this.waiting.unknown.add(socket);
    const ofAddress = this.waitingOfAddress.get(connection.address) ?? new Set();
    this.waitingOfAddress.set(connection.address, ofAddress.add(socket));
  }

  private takeOut(socket: Socket, { address }: Connection): void {
    this.waiting.known.delete(socket);
    this.waiting.unknown.delete(socket);
    const ofAddress = this.waitingOfAddress.get(address);
    ofAddress?.delete(socket);
    if (ofAddress?.size === 0) this.waitingOfAddress.delete(address);
  }

  private forget(socket: Socket, connection: Connection): void {
    if (!this.open.delete(socket)) return;
    this.takeOut(socket, connection);
    if (!connection.isKnown) this.leaveUnknown(connection);
  }

  private leaveUnknown({ address }: Connection): void {
    this.unknown -= 1;
    const rest = (this.unknownOfAddress.get(address) ?? 0) - 1;
    if (rest > 0) this.unknownOfAddress.set(address, rest);
    else this.unknownOfAddress.delete(address);
  }
}
