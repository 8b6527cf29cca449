import type { IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { Response } from 'express';
import { type WebSocket, WebSocketServer } from 'ws';
import { Config } from '../../../config/config';
import { hasOwnOrigin } from '../auth/browser-cookies';
import { LiveAccess } from '../auth/live-access';
import type { AuthenticatedRequest, Caller } from '../auth/request-principal';
import { DomainError, forbidden, invalid, overloaded, tooMany } from '../../kernel/errors/domain-error';
import { LOGGER, type Logger } from '../../kernel/logging/logger';
import { KeyedSlots } from '../connections/keyed-slots';
import { ACCEPTED, type UpgradeRequest, upgradeRequestOf } from './upgrade-requests';

/** Interval of pings. In this time, a client must respond and have read most of what was sent. */
const PING_INTERVAL_MS = 15_000;
const MAX_UNREAD_BYTES = 16 * 1024 ** 2;
/** Time that a client has to confirm the close of a socket. */
const CLOSE_TIMEOUT_MS = 250;
/** Status codes of RFC 6455. */
const CLOSE = { goingAway: 1001, policy: 1008, failed: 1011 } as const;

/** Takes over the accepted socket. An error that it throws closes the socket. */
export type UpgradeHandler = (socket: WebSocket) => void;

/**
 * Keeps the WebSockets of a process: their number and buffers are bounded, and they are closed when their callers lose
 * access.
 */
@Injectable()
export class Upgrades implements OnModuleDestroy {
  private readonly server: WebSocketServer;
  private readonly slots: Readonly<Record<Caller['kind'], KeyedSlots>>;
  /** True for a socket whose client has sent something since the last ping. */
  private readonly open = new Map<WebSocket, boolean>();
  /** Errors of handshakes. */
  private readonly refusals = new WeakMap<IncomingMessage, Error>();
  private readonly timer: NodeJS.Timeout;

  constructor(
    { http }: Config,
    private readonly live: LiveAccess,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    const limits = { all: http.maxSockets, perKey: http.maxSocketsOfCaller };
    this.slots = { user: new KeyedSlots(limits), node: new KeyedSlots(limits) };
    this.server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      // A few compressed bytes could become many.
      perMessageDeflate: false,
      maxPayload: http.maxJsonBytes,
    });
    // Without this listener, the library would send its own response.
    this.server.on('wsClientError', (error: Error, _socket: unknown, request: IncomingMessage) => {
      this.refusals.set(request, error);
    });
    this.timer = setInterval(() => this.closeSilent(), PING_INTERVAL_MS).unref();
  }

  async onModuleDestroy(): Promise<void> {
    clearInterval(this.timer);
    if (this.open.size === 0) return;
    for (const socket of this.open.keys()) socket.close(CLOSE.goingAway, 'The server stops');
    await delay(CLOSE_TIMEOUT_MS);
    for (const socket of this.open.keys()) socket.terminate();
  }

  /** Counts the upgrade of an admitted request from now on. Throws a 4xx or a 503 if it is refused. */
  take(request: AuthenticatedRequest, response: Response): UpgradeRequest {
    const upgrade = upgradeRequestOf(request);
    if (!upgrade)
      throw new DomainError(
        'upgrade-required',
        'REQUEST.NO_UPGRADE',
        'This operation accepts only WebSockets. Send a WebSocket handshake.',
      );
    assertOwnOrigin(request);
    const { caller } = request;
    if (!caller) throw new Error('An upgrade needs a known caller');
    const slot = this.slots[caller.kind].take(String(caller.id));
    if (slot === 'perKey')
      throw tooMany('REQUEST.TOO_MANY_SOCKETS', 'You have too many open WebSockets. Close one and try again.');
    if (slot === 'all')
      throw overloaded('REQUEST.TOO_MANY_SOCKETS', 'The server has too many open WebSockets. Try again later.');
    response.once('close', slot);
    return upgrade;
  }

  /** Completes the handshake and passes the socket to the handler. Throws if the handshake is invalid, or a response was sent. */
  accept(
    request: AuthenticatedRequest,
    response: Response,
    { socket, head }: UpgradeRequest,
    handler: UpgradeHandler,
  ): void {
    if (response.headersSent || socket.destroyed) throw overloaded('REQUEST.TIMEOUT', 'The connection is closed.');
    let accepted: WebSocket | null = null;
    this.server.handleUpgrade(request, socket, head, (webSocket) => (accepted = webSocket));
    const webSocket = accepted as WebSocket | null;
    if (!webSocket) {
      throw invalid(
        'REQUEST.NO_HANDSHAKE',
        this.refusals.get(request)?.message ?? 'This is not a WebSocket handshake.',
      );
    }
    response.emit(ACCEPTED);
    this.keep(webSocket);
    const unwatch = this.live.watch(request, ({ code }) => end(webSocket, CLOSE.policy, code));
    response.once('close', unwatch);
    // The handshake has been sent, so no error may be thrown from here on.
    try {
      handler(webSocket);
    } catch (error) {
      this.logger.error(
        { err: error, operation: request.operation?.id },
        'The handler of a WebSocket failed; the socket is closed',
      );
      end(webSocket, CLOSE.failed, 'INTERNAL');
    }
  }

  private keep(webSocket: WebSocket): void {
    this.open.set(webSocket, true);
    const isThere = () => this.open.set(webSocket, true);
    // A message counts as well as a pong, which comes only after all that was sent before it.
    webSocket.on('pong', isThere).on('message', isThere);
    // The library closes a socket that breaks the protocol, and this ends its connection.
    webSocket.on('error', () => webSocket.terminate());
    webSocket.on('close', () => this.open.delete(webSocket));
  }

  private closeSilent(): void {
    for (const [webSocket, isAlive] of this.open) {
      // Nothing is read from a paused socket, not even a pong.
      const isSilent = !isAlive && !webSocket.isPaused;
      if (isSilent || webSocket.bufferedAmount > MAX_UNREAD_BYTES) {
        webSocket.terminate();
        continue;
      }
      this.open.set(webSocket, false);
      webSocket.ping();
    }
  }
}

/** Throws a 403 if a browser names a page of another site as the origin: it must not act for the browser's user. */
function assertOwnOrigin(request: AuthenticatedRequest): void {
  if (request.get('origin') === undefined || hasOwnOrigin(request)) return;
  throw forbidden('REQUEST.FOREIGN_ORIGIN', 'Pages of other sites may not open a WebSocket here.');
}

/** Closes a socket with the reason, and does not wait long for the client. */
function end(webSocket: WebSocket, code: number, reason: string): void {
  webSocket.close(code, reason);
  setTimeout(() => webSocket.terminate(), CLOSE_TIMEOUT_MS).unref();
}
