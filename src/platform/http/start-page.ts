import type { INestApplication } from '@nestjs/common';
import type { Express, Request, Response } from 'express';
import { API_PREFIX, DOCS_PATH } from './openapi';

/**
 * `GET /` redirects browsers to the documentation, and returns its path to programs. The path is relative, so that it also
 * works behind a proxy that adds a path.
 */
export function serveStartPage(app: INestApplication, info: { title: string; version: string }): void {
  const { title, version } = info;
  const body = { title, version, documentation: DOCS_PATH, openapi: `${API_PREFIX}/openapi.json` };
  const express = app.getHttpAdapter().getInstance() as Express;
  express.get('/', (_request: Request, response: Response) => {
    response.format({
      html: () => response.redirect(DOCS_PATH),
      json: () => response.json(body),
      default: () => response.json(body),
    });
  });
}
