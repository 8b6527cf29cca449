import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Express, Request, Response } from 'express';
import type { INestApplication } from '@nestjs/common';
import { ASK_AGAIN, UNCHANGING } from '../cache-control';
import { acceptedEncoding, type Encoding } from '../compression';
import { API_PREFIX, DOCS_PATH } from '../openapi';

/** Files of the page by name, with the package that ships them or none for our own. */
const FILES = {
  'swagger-ui-bundle.js': { package: 'swagger-ui-dist', type: 'text/javascript; charset=utf-8' },
  'swagger-ui.css': { package: 'swagger-ui-dist', type: 'text/css; charset=utf-8' },
  'favicon-32x32.png': { package: 'swagger-ui-dist', type: 'image/png' },
  'documentation-page.js': { package: null, type: 'text/javascript; charset=utf-8' },
} as const;

type FileName = keyof typeof FILES;

/** At this quality, the largest file takes 0.13 s, once. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

const ENCODERS = {
  br: (content: Buffer) => promisify(brotliCompress)(content, BROTLI),
  gzip: promisify(gzip),
};

/** A text or image of the documentation, which is compressed at the first request and kept. */
class Page {
  private readonly encoded = new Map<Encoding, Promise<Buffer>>();
  readonly hash: string;

  constructor(
    private readonly content: Buffer,
    private readonly type: string,
    private readonly cacheControl: string,
  ) {
    this.hash = createHash('sha256').update(content).digest('hex').slice(0, 16);
  }

  async send(request: Request, response: Response): Promise<void> {
    const encoding = acceptedEncoding(request);
    response.setHeader('Content-Type', this.type);
    response.setHeader('Cache-Control', this.cacheControl);
    response.vary('Accept-Encoding');
    response.setHeader('ETag', `W/"${this.hash}"`);
    if (encoding !== null) response.setHeader('Content-Encoding', encoding);
    response.send(encoding === null ? this.content : await this.encode(encoding));
  }

  private encode(encoding: Encoding): Promise<Buffer> {
    const known = this.encoded.get(encoding);
    if (known) return known;
    const encoded = ENCODERS[encoding](this.content);
    this.encoded.set(encoding, encoded);
    return encoded;
  }
}

interface DocumentationOptions {
  title: string;
  /** Builds the OpenAPI document. It is called at the first request, because that takes a quarter of a start. */
  createDocument: () => object;
}

/**
 * Serves the OpenAPI document and the Swagger UI, which loads it. Everything is compressed once. Addresses on the page are relative,
 * so that it also works behind a proxy that adds a path.
 */
export function serveDocumentation(app: INestApplication, { title, createDocument }: DocumentationOptions): void {
  const express = app.getHttpAdapter().getInstance() as Express;
  const files = new Map<FileName, Page>();
  const file = (name: FileName): Page => {
    const found = files.get(name) ?? new Page(readFileSync(pathOf(name)), FILES[name].type, UNCHANGING);
    files.set(name, found);
    return found;
  };
  let html: Page | undefined;
  let document: Page | undefined;
  express.get(`/${DOCS_PATH}`, (request, response) => {
    // Relative addresses would miss with a slash at the end.
    if (request.path.endsWith('/')) return response.redirect(`../${DOCS_PATH.split('/').at(-1)}`);
    html ??= pageOf(title, file);
    return html.send(request, response);
  });
  express.get(`/${DOCS_PATH}/:hash/:name`, (request, response, next) => {
    const { hash, name } = request.params;
    if (!isFileName(name) || file(name).hash !== hash) return next();
    return file(name).send(request, response);
  });
  express.get(`/${API_PREFIX}/openapi.json`, (request, response) => {
    document ??= new Page(Buffer.from(JSON.stringify(createDocument())), 'application/json; charset=utf-8', ASK_AGAIN);
    return document.send(request, response);
  });
}

function isFileName(name: unknown): name is FileName {
  return typeof name === 'string' && Object.hasOwn(FILES, name);
}

function pathOf(name: FileName): string {
  const { package: shipper } = FILES[name];
  return shipper === null ? join(__dirname, name) : require.resolve(`${shipper}/${name}`);
}

function pageOf(title: string, file: (name: FileName) => Page): Page {
  const address = (name: FileName) => `docs/${file(name).hash}/${name}`;
  const scripts = [address('swagger-ui-bundle.js'), address('documentation-page.js')];
  const html = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" type="image/png" href="${address('favicon-32x32.png')}">
<link rel="preload" href="openapi.json" as="fetch" crossorigin="anonymous">
<link rel="stylesheet" href="${address('swagger-ui.css')}">
${scripts.map((script) => `<script defer src="${script}"></script>`).join('\n')}
</head>
<body>
<noscript>This page needs JavaScript. The document that it shows is <a href="openapi.json">openapi.json</a>.</noscript>
<div id="documentation"></div>
</body>
</html>
`;
  return new Page(Buffer.from(html), 'text/html; charset=utf-8', ASK_AGAIN);
}
