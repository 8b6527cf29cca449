import { createServer, type Server } from 'node:http';
import { StreamableFile } from '@nestjs/common';
import type { Express, Response } from 'express';
import type { HttpConfig } from '../../config/http.config';
import { isForNodes } from '../kernel/auth/access';
import type { AuthenticatedRequest } from './auth/request-principal';
import { acceptedEncoding, BodyCompressor, type Encoding, MIN_COMPRESSED_BYTES } from './compression';
import { Connections } from './connections/connections';
import { MAX_HEAD_BYTES } from './connections/malformed-requests';
import { RankedRoutesAdapter } from './ranked-routes.adapter';
import { moveTokenToHeader } from './upgrades/path-tokens';
import { serveUpgrades, WebSocketOnlyRequest } from './upgrades/upgrade-requests';

interface Rendered {
  json: Buffer;
  etag: string | undefined;
  /** The compressed forms that were sent before. */
  compressed: Map<Encoding, Buffer>;
}

/** Interval at which the server checks for request heads that take too long. */
const HEAD_CHECK_INTERVAL_MS = 1_000;

/**
 * Runs Express on a server that bounds its connections and their heads. JSON from 1 KiB on is compressed. Frozen responses,
 * which cannot change, are serialized and compressed once instead of for each request.
 */
export class ApiAdapter extends RankedRoutesAdapter {
  private readonly rendered = new WeakMap<object, Rendered>();
  private readonly compressor = new BodyCompressor();

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
    if (typeof body !== 'object' || body === null || body instanceof StreamableFile || body instanceof Error) {
      return super.reply(response, body, statusCode);
    }
    const rendered = Object.isFrozen(body) ? this.renderOnce(body, response) : render(body, response);
    if (statusCode !== undefined) response.status(statusCode);
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    // Express uses this ETag instead of its own, and compares it with If-None-Match. It is a weak one, the same for all encodings.
    if (rendered.etag !== undefined) response.setHeader('ETag', rendered.etag);
    return this.mayCompress(response, rendered.json)
      ? this.sendCompressed(response, rendered)
      : response.send(rendered.json);
  }

  private mayCompress(response: Response, { length }: Buffer): boolean {
    if (length < MIN_COMPRESSED_BYTES) return false;
    // A compressed secret is shorter if a text of the request beside it repeats a part of it.
    if (response.getHeader('Cache-Control') === 'no-store') return false;
    const { operation } = response.req as AuthenticatedRequest;
    return operation === undefined || !isForNodes(operation.access);
  }

  private sendCompressed(response: Response, { json, compressed }: Rendered): unknown {
    const { req: request } = response;
    response.vary('Accept-Encoding');
    const encoding = acceptedEncoding(request);
    // The client has a fresh response already and gets only its head.
    if (encoding === null || request.fresh) return response.send(json);
    const send = (body: Buffer) => {
      compressed.set(encoding, body);
      response.setHeader('Content-Encoding', encoding);
      return response.send(body);
    };
    const body = compressed.get(encoding) ?? this.compressor.compress(json, encoding);
    if (body === null) return response.send(json);
    return body instanceof Promise ? body.then(send) : send(body);
  }

  private renderOnce(body: object, response: Response): Rendered {
    const known = this.rendered.get(body);
    if (known) return known;
    const rendered = render(body, response);
    this.rendered.set(body, rendered);
    return rendered;
  }
}

function render(body: object, response: Response): Rendered {
  const json = Buffer.from(JSON.stringify(body));
  const etagOf = response.app.get('etag fn') as ((bytes: Buffer) => string) | undefined;
  return { json, etag: etagOf?.(json), compressed: new Map() };
}
