import type { IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { Response } from 'express';
import { type WebSocket, WebSocketServer } from 'ws';
import { Config } from '../../../config/config';
import { LiveAccess } from '../auth/live-access';
import type { AuthenticatedRequest, Caller } from '../auth/request-principal';
import { DomainError, forbidden, invalid, overloaded, tooMany } from '../../kernel/errors/domain-error';
import { LOGGER, type Logger } from '../../kernel/logging/logger';
import { KeyedSlots } from '../connections/keyed-slots';
import { ACCEPTED, type UpgradeRequest, upgradeRequestOf } from './upgrade-requests';

/** How often a peer has to show that it is there, and to have taken what was sent. */
const ALIVE_MS = 15_000;
/** Most bytes that a client may leave unread. */
const MAX_BUFFERED = 16 * 1024 ** 2;
/** How long a client has to answer the close of a socket. */
const CLOSE_MS = 250;
/** Of RFC 6455. */
const CLOSE = { goingAway: 1001, policy: 1008, failed: 1011 } as const;

/** Takes over the accepted socket; what it throws closes the socket. */
export type UpgradeHandler = (socket: WebSocket) => void;

/**
 * The WebSockets of a process: bounded in number and in what they hold, and closed when their callers are no longer
 * admitted.
 */
@Injectable()
export class Upgrades implements OnModuleDestroy {
  private readonly server: WebSocketServer;
  private readonly slots: Readonly<Record<Caller['kind'], KeyedSlots>>;
  /** Whether something has come from the peer since the last ping. */
  private readonly open = new Map<WebSocket, boolean>();
  /** What is wrong with a handshake. */
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
      // A few bytes could become many.
      perMessageDeflate: false,
      maxPayload: http.maxJsonBytes,
    });
    // Without this listener it would answer by itself, in its own words.
    this.server.on('wsClientError', (error: Error, _socket: unknown, request: IncomingMessage) => {
      this.refusals.set(request, error);
    });
    this.timer = setInterval(() => this.closeSilent(), ALIVE_MS).unref();
  }

  async onModuleDestroy(): Promise<void> {
    clearInterval(this.timer);
    if (this.open.size === 0) return;
    for (const socket of this.open.keys()) socket.close(CLOSE.goingAway, 'The server stops');
    await delay(CLOSE_MS);
    for (const socket of this.open.keys()) socket.terminate();
  }

  /** Counts the upgrade of an admitted request from now on; throws a refusal with status 4xx or 503. */
  take(request: AuthenticatedRequest, response: Response): UpgradeRequest {
    const upgrade = upgradeRequestOf(request);
    if (!upgrade) throw new DomainError('upgrade-required', 'REQUEST.NO_UPGRADE', 'Ask for a WebSocket here.');
    assertOwnOrigin(request);
    const { caller } = request;
    if (!caller) throw new Error('An upgrade needs a known caller');
    const slot = this.slots[caller.kind].take(String(caller.id));
    if (slot === 'perKey') throw tooMany('REQUEST.TOO_MANY_SOCKETS', 'Too many of your WebSockets are open.');
    if (slot === 'all') throw overloaded('REQUEST.TOO_MANY_SOCKETS', 'Too many WebSockets are open.');
    response.once('close', slot);
    return upgrade;
  }

  /**
   * Does the handshake and hands over the socket. Throws if the request is not a proper handshake, or is already
   * answered.
   */
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
    // Nothing is thrown from here on: the answer is out.
    try {
      handler(webSocket);
    } catch (error) {
      this.logger.error({ err: error, operation: request.operation?.id }, 'An upgrade failed');
      end(webSocket, CLOSE.failed, 'INTERNAL');
    }
  }

  private keep(webSocket: WebSocket): void {
    this.open.set(webSocket, true);
    const isThere = () => this.open.set(webSocket, true);
    // What answers a ping comes behind all that was sent before, which may be much.
    webSocket.on('pong', isThere).on('message', isThere);
    // What breaks the rules of the protocol has been closed for it.
    webSocket.on('error', () => webSocket.terminate());
    webSocket.on('close', () => this.open.delete(webSocket));
  }

  private closeSilent(): void {
    for (const [webSocket, isAlive] of this.open) {
      // Nothing is read of one that is paused, its answer neither.
      const isSilent = !isAlive && !webSocket.isPaused;
      if (isSilent || webSocket.bufferedAmount > MAX_BUFFERED) {
        webSocket.terminate();
        continue;
      }
      this.open.set(webSocket, false);
      webSocket.ping();
    }
  }
}

/** A browser names the page that asks; pages of other sites must not act for its user. */
function assertOwnOrigin(request: AuthenticatedRequest): void {
  const origin = request.get('origin');
  if (origin === undefined || (URL.canParse(origin) && new URL(origin).host === request.host)) return;
  throw forbidden('REQUEST.FOREIGN_ORIGIN', 'Pages of other sites may not open a WebSocket here.');
}

/** Tells the client why, and does not wait long for it. */
function end(webSocket: WebSocket, code: number, reason: string): void {
  webSocket.close(code, reason);
  setTimeout(() => webSocket.terminate(), CLOSE_MS).unref();
}
