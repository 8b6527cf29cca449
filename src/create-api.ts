import { parse } from 'node:querystring';
import type { INestApplication, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AGENT_BASE_PATH } from '../libs/contracts/agent-protocol';
import { ApiModule } from './api.module';
import type { HttpConfig } from './config/http.config';
import { HealthService } from './platform/http/health/health.service';
import { probesMiddleware } from './platform/http/health/probes';
import { ApiAdapter } from './platform/http/api-adapter';
import { unauthenticatedRequestsMiddleware } from './platform/http/connections/unauthenticated-requests.middleware';
import { misdirectedAgentsMiddleware } from './platform/http/misdirected-agents.middleware';
import { DOCS_PATH } from './platform/http/openapi';
import { requestContextMiddleware } from './platform/http/request-context.middleware';
import { requestLogMiddleware } from './platform/http/request-log.middleware';
import { securityHeadersMiddleware } from './platform/http/security-headers';
import { createValidationPipe } from './platform/http/validation';
import { LOGGER, type Logger } from './platform/kernel/logging/logger';

interface ApiOptions {
  /** Builds no providers: the application only describes the API. */
  preview: boolean;
  http: HttpConfig;
  /** Modules of tests. */
  more?: readonly Type[];
}

export async function createApi({ preview, http, more }: ApiOptions): Promise<INestApplication> {
  const app = await NestFactory.create<NestExpressApplication>(
    ApiModule.serving(http.serves, more),
    new ApiAdapter(http),
    {
      preview,
      // Bodies are read once the guards have identified the caller.
      bodyParser: false,
      bufferLogs: !preview,
      logger: preview ? ['error'] : undefined,
      abortOnError: false,
    },
  );
  app.disable('x-powered-by');
  app.set('trust proxy', http.trustedProxies);
  // No limit on the number of keys: a filter with dropped keys would match other records. The size of the head bounds the query.
  app.set('query parser', (query: string) => parse(query, '&', '=', { maxKeys: 0 }));
  if (!preview) {
    const health = app.get(HealthService);
    app.use(probesMiddleware(() => health.apiReadiness()));
  }
  app.use(securityHeadersMiddleware(`/${DOCS_PATH}`));
  app.use(requestContextMiddleware);
  if (!preview) app.use(requestLogMiddleware(app.get<Logger>(LOGGER)));
  if (http.trustedProxies > 0) {
    app.use(unauthenticatedRequestsMiddleware({ all: http.maxUnknown, perKey: http.maxUnknownOfAddress }));
  }
  if (!preview && !http.serves.includes('agents'))
    app.use(AGENT_BASE_PATH, misdirectedAgentsMiddleware(app.get<Logger>(LOGGER)));
  app.useGlobalPipes(createValidationPipe());
  return app;
}
