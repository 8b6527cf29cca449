import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { INestApplication } from '@nestjs/common';
import express from 'express';
import { securityHeadersMiddleware } from '../security-headers';
import { serveConsole } from './console-page';

const PAGE = '<script src="./assets/main-1.js" nonce="__NONCE__"></script>';

let folder: string;
let server: Server;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'console-'));
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'index.html'), PAGE);
  for (const [name, content] of [
    ['main-1.js', 'plain'],
    ['main-1.js.br', 'brotli'],
    ['main-1.js.gz', 'gzip'],
    ['a.svg', '<svg/>'],
  ] as const)
    writeFileSync(join(folder, 'assets', name), content);
  const app = express();
  app.use(securityHeadersMiddleware('/docs'));
  serveConsole({ getHttpAdapter: () => ({ getInstance: () => app }) } as unknown as INestApplication, folder);
  server = createServer(app).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
});

afterAll(() => {
  server?.close();
  rmSync(folder, { recursive: true, force: true });
});

async function answerOf(
  path: string,
  headers: Record<string, string> = {},
): Promise<IncomingMessage & { body: string }> {
  const { port } = server.address() as AddressInfo;
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    get({ port, host: '127.0.0.1', path, headers, agent: false }, resolve).once('error', reject);
  });
  return Object.assign(answer, { body: await text(answer) });
}

describe('the page of the console', () => {
  it.each([
    ['/console/', './'],
    ['/console/runs', './'],
    ['/console/runs/7', '../'],
    ['/console/runs/7/9?tab=log', '../../'],
  ])('is sent for %s with addresses that fit', async (path, prefix) => {
    const { statusCode, headers, body } = await answerOf(path);
    expect([statusCode, headers['content-type'], headers['cache-control']]).toEqual([
      200,
      'text/html; charset=utf-8',
      'no-store',
    ]);
    expect(body).toContain(`src="${prefix}assets/main-1.js"`);
  });

  it('is found without the slash, relative to what a proxy adds', async () => {
    const { statusCode, headers } = await answerOf('/console');
    expect([statusCode, headers.location]).toEqual([302, 'console/']);
  });

  it('has a nonce of its own, and runs only its own scripts', async () => {
    const nonceOf = (body: string) => /nonce="([^"]+)"/.exec(body)?.[1] ?? '';
    const [one, other] = [await answerOf('/console/'), await answerOf('/console/')];
    expect(nonceOf(one.body)).toMatch(/^[\w+/]{22}==$/);
    expect(nonceOf(one.body)).not.toBe(nonceOf(other.body));
    expect(String(one.headers['content-security-policy']).split(';')).toEqual(
      expect.arrayContaining([
        "default-src 'none'",
        "script-src 'self'",
        `style-src 'self' 'nonce-${nonceOf(one.body)}'`,
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "require-trusted-types-for 'script'",
      ]),
    );
    expect(one.headers['x-frame-options']).toBe('DENY');
  });
});

describe('the page for outputs of notebooks', () => {
  it('has an opaque origin, runs what it is sent, and loads nothing', async () => {
    const { statusCode, headers, body } = await answerOf('/console/output');
    expect([statusCode, headers['content-type'], headers['x-frame-options']]).toEqual([
      200,
      'text/html; charset=utf-8',
      'SAMEORIGIN',
    ]);
    expect(String(headers['content-security-policy']).split(';').sort()).toEqual([
      "base-uri 'none'",
      "default-src 'none'",
      'font-src data:',
      "form-action 'none'",
      "frame-ancestors 'self'",
      'img-src data: blob:',
      'media-src data: blob:',
      'sandbox allow-scripts',
      "script-src 'unsafe-inline' 'unsafe-eval'",
      "style-src 'unsafe-inline'",
    ]);
    expect(body).toContain("addEventListener('message'");
  });
});

describe('a file of the console', () => {
  it.each([
    ['br, gzip', 'br', 'brotli'],
    ['gzip', 'gzip', 'gzip'],
    ['identity', undefined, 'plain'],
  ])('is sent as the client accepts it: %s', async (accepted, encoding, content) => {
    const { statusCode, headers, body } = await answerOf('/console/assets/main-1.js', { 'accept-encoding': accepted });
    expect([statusCode, headers['content-encoding'], body]).toEqual([200, encoding, content]);
    expect(headers['content-type']).toBe('text/javascript; charset=utf-8');
    expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(headers.vary).toBe('Accept-Encoding');
  });

  it('is sent as it is if the build has not compressed it', async () => {
    const { headers, body } = await answerOf('/console/assets/a.svg', { 'accept-encoding': 'br' });
    expect([headers['content-encoding'], body]).toEqual([undefined, '<svg/>']);
  });

  it.each(['missing.js', 'main-1.js.br', '..%2Findex.html', '%2e%2e/index.html', 'a.svg/b'])(
    'must be of the build: %s',
    async (name) => {
      expect((await answerOf(`/console/assets/${name}`)).statusCode).toBe(404);
    },
  );
});
