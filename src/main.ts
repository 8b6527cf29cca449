import 'reflect-metadata';
import type { Server } from 'node:http';
import type { INestApplication } from '@nestjs/common';
import { DiscoveryService, MetadataScanner, Reflector } from '@nestjs/core';
import { SwaggerModule } from '@nestjs/swagger';
import type { DataSource } from 'typeorm';
import { Config } from './config/config';
import { createApi } from './create-api';
import { createDataSource } from './database/data-source';
import { prepareDatabase } from './database/prepare-database';
import { waitForSchema } from './database/wait-for-schema';
import { packageVersion } from './modules/health/health.service';
import { declaredOperations } from './platform/http/boot-checks';
import { API_PREFIX, API_TITLE, createOpenApiDocument, DOCS_PATH } from './platform/http/openapi';
import { serveStartPage } from './platform/http/start-page';
import { createLogger, LOGGER, type Logger, NestLogger } from './platform/logging/logger';
import { failProcess } from './platform/process/fail-process';
import { keepPrivate } from './platform/process/private-folders';
import { stopOnSignals } from './platform/process/stop-on-signals';
import { WorkerWatch } from './platform/workers/worker-watch';

const CLOSE_IDLE_EVERY_MS = 50;

async function main(): Promise<void> {
  const config = Config.load();
  const { store } = config.storage;
  if (store.kind === 'directory') keepPrivate(store.dir, store.filesDir, store.logsDir);
  // A process that serves only agents runs beside others: like a worker, it leaves this to them.
  if (!config.http.serves.includes('clients')) await waitForSchema(config);
  else if (config.database.migrateOnStart) await prepare(config);
  const app = await createApi({ preview: false, http: config.http });
  const logger = app.get<Logger>(LOGGER);
  app.useLogger(new NestLogger(logger));
  declaredOperations(app.get(DiscoveryService), app.get(MetadataScanner), app.get(Reflector));
  if (config.http.docs && config.http.serves.includes('clients')) serveDocs(app);
  const watch = app.get(WorkerWatch);
  const server = app.getHttpServer() as Server;
  // Clients keep their connections open: idle ones would hold up the end of the process.
  stopOnSignals(app, config.http.shutdownMs, logger, () => {
    setInterval(() => server.closeIdleConnections(), CLOSE_IDLE_EVERY_MS).unref();
    return watch.stop();
  });
  await app.listen(config.http.port, config.http.host);
  const { host, port, serves } = config.http;
  watch.start();
  logger.info({ host, port, serves }, 'The API is listening');
}

function serveDocs(app: INestApplication): void {
  const version = packageVersion();
  // Made at the first request for it, which few pods ever get: it would be a quarter of the start.
  SwaggerModule.setup(DOCS_PATH, app, () => createOpenApiDocument(app, version), {
    jsonDocumentUrl: `${API_PREFIX}/openapi.json`,
    raw: ['json'],
    customSiteTitle: API_TITLE,
    swaggerOptions: {
      persistAuthorization: true,
      displayOperationId: true,
      filter: true,
      deepLinking: true,
    },
  });
  serveStartPage(app, { title: API_TITLE, version });
}

/** Brings schema, reference data and the first identity up to date, once over all pods. */
async function prepare(config: Config): Promise<void> {
  const logger = createLogger('prepare-database', config.product.logLevel);
  const dataSource: DataSource = await createDataSource(config.database, 'prepare').initialize();
  try {
    await prepareDatabase(dataSource, config, logger);
  } finally {
    await dataSource.destroy();
  }
}

main().catch(failProcess);
