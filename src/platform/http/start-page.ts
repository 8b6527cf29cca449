import type { INestApplication } from '@nestjs/common';
import type { Express, Request, Response } from 'express';
import { API_PREFIX, DOCS_PATH } from './openapi';

/**
 * `GET /` sends browsers to the documentation and tells programs where it is. Relative, so that it works behind any
 * path a proxy adds.
 */
export function serveStartPage(app: INestApplication, info: { title: string; version: string }): void {
  const { title, version } = info;
  const answer = { title, version, documentation: DOCS_PATH, openapi: `${API_PREFIX}/openapi.json` };
  const express = app.getHttpAdapter().getInstance() as Express;
  express.get('/', (_request: Request, response: Response) => {
    response.format({
      html: () => response.redirect(DOCS_PATH),
      json: () => response.json(answer),
      default: () => response.json(answer),
    });
  });
}
