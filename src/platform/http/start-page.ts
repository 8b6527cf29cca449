import type { INestApplication } from '@nestjs/common';
import type { Express, Request, Response } from 'express';
import { CONSOLE_PATH } from './console/console-page';
import { API_PREFIX, DOCS_PATH } from './openapi';

interface StartPage {
  title: string;
  version: string;
  serves: { docs: boolean; console: boolean };
}

/**
 * `GET /` redirects browsers to the console, or else to the documentation, and returns the paths of what is served to programs. The
 * paths are relative, so that they also work behind a proxy that adds a path.
 */
export function serveStartPage(app: INestApplication, { title, version, serves }: StartPage): void {
  const documents = { documentation: DOCS_PATH, openapi: `${API_PREFIX}/openapi.json` };
  const body = {
    title,
    version,
    ...(serves.console ? { console: `${CONSOLE_PATH}/` } : {}),
    ...(serves.docs ? documents : {}),
  };
  const express = app.getHttpAdapter().getInstance() as Express;
  express.get('/', (_request: Request, response: Response) => {
    response.format({
      html: () => response.redirect(serves.console ? `${CONSOLE_PATH}/` : DOCS_PATH),
      json: () => response.json(body),
      default: () => response.json(body),
    });
  });
}
