import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { json } from 'express';
import { ApiModule } from './api.module';
import { invalid } from './platform/errors/domain-error';
import { ApiAdapter } from './platform/http/api-adapter';
import { requestContextMiddleware } from './platform/http/request-context.middleware';
import { requestLogMiddleware } from './platform/http/request-log.middleware';
import { createValidationPipe } from './platform/http/validation';
import { LOGGER, type Logger } from './platform/logging/logger';
import { internalKey, keysFromWire } from './platform/product/product-name';

/** The API application; `preview` builds no providers and serves only to describe it. */
export async function createApi(options: {
  preview: boolean;
  maxJsonBytes: number;
  trustedProxies: number;
}): Promise<INestApplication> {
  const app = await NestFactory.create<NestExpressApplication>(ApiModule, new ApiAdapter(), {
    preview: options.preview,
    bodyParser: false,
    bufferLogs: !options.preview,
    logger: options.preview ? ['error'] : undefined,
    abortOnError: false,
  });
  app.disable('x-powered-by');
  app.set('trust proxy', options.trustedProxies);
  app.set('query parser', 'simple');
  // Before the body is read: a body that cannot be parsed is answered with a correlation id and logged, too.
  app.use(requestContextMiddleware);
  if (!options.preview) app.use(requestLogMiddleware(app.get<Logger>(LOGGER)));
  app.use(jsonBody(options.maxJsonBytes));
  app.useGlobalPipes(createValidationPipe());
  return app;
}

/**
 * Parses JSON bodies; uploads stay streams. Clients send PUT and DELETE with a JSON content type and no body, which
 * the parser leaves as it is.
 */
function jsonBody(limit: number) {
  const parse = json({ limit, type: ['application/json', 'application/*+json'], strict: true });
  return (
    request: Parameters<typeof parse>[0],
    response: Parameters<typeof parse>[1],
    next: (error?: unknown) => void,
  ) => {
    if (request.method === 'GET') {
      next();
      return;
    }
    parse(request, response, (error?: unknown) => {
      const carrier = request as unknown as { body?: unknown };
      if (typeof carrier.body === 'object' && carrier.body !== null && !Array.isArray(carrier.body)) {
        const body = carrier.body as Record<string, unknown>;
        const unknown = internalKey(body);
        if (unknown !== undefined) {
          next(invalid('REQUEST.INVALID', `The request is not valid: ${unknown} is not a known field.`));
          return;
        }
        carrier.body = keysFromWire(body);
      }
      next(error);
    });
  };
}
