import { createServer, type Server } from 'node:http';
import type { Express, Response } from 'express';
import type { HttpConfig } from '../../config/http.config';
import { Connections } from './connections/connections';
import { MAX_HEAD_BYTES } from './connections/malformed-requests';
import { RankedRoutesAdapter } from './ranked-routes.adapter';
import { moveTokenToHeader } from './upgrades/path-tokens';
import { serveUpgrades, WebSocketOnlyRequest } from './upgrades/upgrade-requests';

interface Rendered {
  json: Buffer;
  etag: string | undefined;
}

/** Interval at which the server checks for request heads that take too long. */
const HEAD_CHECK_INTERVAL_MS = 1_000;

/**
 * Runs Express on a server that bounds its connections and their heads. Frozen responses, which cannot change, are
 * serialized once instead of for each request.
 */
export class ApiAdapter extends RankedRoutesAdapter {
  private readonly rendered = new WeakMap<object, Rendered>();

  constructor(private readonly http: HttpConfig) {
    super();
  }

  override initHttpServer(): void {
    const { headTimeoutMs, keepAliveMs, trustedProxies, stallMs } = this.http;
    const options = {
      maxHeaderSize: MAX_HEAD_BYTES,
      IncomingMessage: WebSocketOnlyRequest,
      headersTimeout: headTimeoutMs,
      connectionsCheckingInterval: HEAD_CHECK_INTERVAL_MS,
      keepAliveTimeout: keepAliveMs,
      // An upload may take longer than any fixed time. Other bodies have a timeout when they are read.
      requestTimeout: 0,
    };
    // The token is moved before Express sees the path, which would be logged.
    const server: Server = createServer(options);
    server.on('request', moveTokenToHeader);
    const connections = new Connections({
      all: this.http.maxConnections,
      unknown: this.http.maxUnknown,
      unknownOfAddress: trustedProxies > 0 ? null : this.http.maxUnknownOfAddress,
      readTimeoutMs: stallMs,
    });
    connections.watch(server);
    serveUpgrades(server, headTimeoutMs);
    server.on('request', this.getInstance<Express>());
    this.setHttpServer(server);
  }

  override reply(response: Response, body: unknown, statusCode?: number): unknown {
    if (typeof body !== 'object' || body === null || !Object.isFrozen(body)) {
      return super.reply(response, body, statusCode);
    }
    const { json, etag } = this.rendered.get(body) ?? this.renderOnce(body, response);
    if (statusCode !== undefined) response.status(statusCode);
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    // Express uses this ETag instead of its own, and compares it with If-None-Match.
    if (etag !== undefined) response.setHeader('ETag', etag);
    return response.send(json);
  }

  private renderOnce(body: object, response: Response): Rendered {
    const json = Buffer.from(JSON.stringify(body));
    const etagOf = response.app.get('etag fn') as ((bytes: Buffer) => string) | undefined;
    const rendered = { json, etag: etagOf?.(json) };
    this.rendered.set(body, rendered);
    return rendered;
  }
}
