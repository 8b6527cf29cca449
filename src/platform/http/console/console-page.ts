import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { INestApplication } from '@nestjs/common';
import type { Express, Request, Response } from 'express';
import { UNCHANGING } from '../cache-control';
import { acceptedEncoding, type Encoding } from '../compression';
import { CONTENT_SECURITY_POLICY, consolePolicy } from '../security-headers';
import { sendOutputPage } from './output-page';

export const CONSOLE_PATH = 'console';

/** Media types of the files that the build of the console makes. */
const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** Ends of the names of compressed files. */
const SUFFIXES: Readonly<Record<Encoding, string>> = { br: '.br', gzip: '.gz' };

/** Stands in the page where the nonce of the request belongs. */
const NONCE = '__NONCE__';
/** Begins the addresses of the files in the page. */
const FILES = '="./';

/**
 * Serves the console: its hashed files as they were compressed by the build, and its page for all other paths, which the console
 * itself interprets. Addresses on the page are relative, so that it also works behind a proxy that adds a path.
 * @param folder dist/console
 * @throws an error if the folder has no console
 */
export function serveConsole(app: INestApplication, folder: string): void {
  const page = readFileSync(join(folder, 'index.html'), 'utf8');
  const files = new Set(readdirSync(join(folder, 'assets')));
  const express = app.getHttpAdapter().getInstance() as Express;
  express.get(`/${CONSOLE_PATH}/assets/:name`, (request, response, next) => {
    const { name } = request.params;
    return files.has(name) && TYPES[extname(name)] ? sendFile(request, response, folder, name, files) : next();
  });
  express.get(`/${CONSOLE_PATH}/output`, (_request, response) => sendOutputPage(response));
  // A missing file must not look like a page to the browser that asks for a script.
  express.get(`/${CONSOLE_PATH}{/*path}`, (request, response, next) => {
    if (request.path.startsWith(`/${CONSOLE_PATH}/assets/`)) return next();
    if (request.path === `/${CONSOLE_PATH}`) return response.redirect(`${CONSOLE_PATH}/`);
    sendPage(request, response, page);
  });
}

async function sendFile(
  request: Request,
  response: Response,
  folder: string,
  name: string,
  files: ReadonlySet<string>,
): Promise<void> {
  const encoding = acceptedEncoding(request);
  const compressed = encoding === null ? null : name + SUFFIXES[encoding];
  const isCompressed = compressed !== null && files.has(compressed);
  response.setHeader('Content-Type', TYPES[extname(name)] ?? '');
  response.setHeader('Cache-Control', UNCHANGING);
  response.vary('Accept-Encoding');
  if (isCompressed) response.setHeader('Content-Encoding', encoding ?? '');
  response.send(await readFile(join(folder, 'assets', isCompressed ? compressed : name)));
}

function sendPage(request: Request, response: Response, page: string): void {
  const nonce = randomBytes(16).toString('base64');
  // "/console/runs/7" is two levels below the folder of the files.
  const levels = request.path.split('/').length - 3;
  const html = page.replaceAll(NONCE, nonce).replaceAll(FILES, `="${'../'.repeat(levels) || './'}`);
  response.setHeader(CONTENT_SECURITY_POLICY, consolePolicy(nonce));
  response.setHeader('Content-Type', 'text/html; charset=utf-8');
  // Each answer has a nonce of its own, so it is never kept.
  response.setHeader('Cache-Control', 'no-store');
  response.send(html);
}
