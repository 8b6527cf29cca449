import { ExpressAdapter } from '@nestjs/platform-express';
import type { Response } from 'express';

interface Rendered {
  json: Buffer;
  etag: string | undefined;
}

/** Express as the API uses it: a frozen answer, which cannot change, is rendered once and not for each request. */
export class ApiAdapter extends ExpressAdapter {
  private readonly rendered = new WeakMap<object, Rendered>();

  override reply(response: Response, body: unknown, statusCode?: number): unknown {
    if (typeof body !== 'object' || body === null || !Object.isFrozen(body)) {
      return super.reply(response, body, statusCode);
    }
    const { json, etag } = this.rendered.get(body) ?? this.renderOnce(body, response);
    if (statusCode !== undefined) response.status(statusCode);
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    // Express makes none of its own then, and compares this one with If-None-Match.
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
