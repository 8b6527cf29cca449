import 'reflect-metadata';
import type { Server } from 'node:http';
import type { INestApplication } from '@nestjs/common';
import { DiscoveryService, MetadataScanner, Reflector } from '@nestjs/core';
import { Config } from './config/config';
import { createApi } from './create-api';
import { ensureDatabase } from './database/ensure-database';
import { packageVersion } from './platform/http/health/health.service';
import { declaredOperations } from './platform/http/boot-checks';
import { serveDocumentation } from './platform/http/documentation/documentation';
import { API_TITLE, createOpenApiDocument } from './platform/http/openapi';
import { serveStartPage } from './platform/http/start-page';
import { createLogger, LOGGER, type Logger, NestLogger } from './platform/kernel/logging/logger';
import { failService } from './platform/kernel/process/fail-process';
import { createPrivateFolders } from './platform/kernel/process/private-folders';
import { listenError } from './platform/kernel/process/start-error';
import { stopOnSignals } from './platform/kernel/process/stop-on-signals';
import { WorkerWatch } from './platform/background/workers/worker-watch';

const CLOSE_IDLE_INTERVAL_MS = 50;

async function main(): Promise<void> {
  const config = Config.load();
  const { store } = config.storage;
  if (store.kind === 'directory') createPrivateFolders([store.dir, store.filesDir, store.logsDir], 'DATA_DIR');
  await ensureDatabase(config, 'api', createLogger('start', config.product.logLevel));
  const app = await createApi({ preview: false, http: config.http });
  const logger = app.get<Logger>(LOGGER);
  app.useLogger(new NestLogger(logger));
  declaredOperations(app.get(DiscoveryService), app.get(MetadataScanner), app.get(Reflector));
  if (config.http.docs && config.http.serves.includes('clients')) serveDocs(app);
  const watch = app.get(WorkerWatch);
  const server = app.getHttpServer() as Server;
  // Clients keep idle connections open, which would delay the end of the process.
  stopOnSignals(app, config.http.shutdownMs, logger, () => {
    setInterval(() => server.closeIdleConnections(), CLOSE_IDLE_INTERVAL_MS).unref();
    return watch.stop();
  });
  const { host, port, serves } = config.http;
  await app.listen(port, host).catch((error: unknown) => {
    throw listenError(error, { host, port, variable: 'PORT' });
  });
  watch.start();
  logger.info({ host, port, serves }, 'The API is listening');
}

function serveDocs(app: INestApplication): void {
  const version = packageVersion();
  serveDocumentation(app, { title: API_TITLE, createDocument: () => createOpenApiDocument(app, version) });
  serveStartPage(app, { title: API_TITLE, version });
}

main().catch(failService('api'));
