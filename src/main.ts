import 'reflect-metadata';
import { existsSync } from 'node:fs';
import type { Server } from 'node:http';
import { join } from 'node:path';
import type { INestApplication } from '@nestjs/common';
import { DiscoveryService, MetadataScanner, Reflector } from '@nestjs/core';
import { Config } from './config/config';
import type { HttpConfig } from './config/http.config';
import { createApi } from './create-api';
import { ensureDatabase } from './database/ensure-database';
import { packageVersion } from './platform/http/health/health.service';
import { declaredOperations } from './platform/http/boot-checks';
import { serveConsole } from './platform/http/console/console-page';
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
/** Made by the build, beside the folder of this program. */
const CONSOLE_FOLDER = join(__dirname, '..', 'console');

async function main(): Promise<void> {
  const config = Config.load();
  const { store } = config.storage;
  if (store.kind === 'directory') createPrivateFolders([store.dir, store.filesDir, store.logsDir], 'DATA_DIR');
  await ensureDatabase(config, 'api', createLogger('start', config.product.logLevel));
  const app = await createApi({ preview: false, http: config.http });
  const logger = app.get<Logger>(LOGGER);
  app.useLogger(new NestLogger(logger));
  declaredOperations(app.get(DiscoveryService), app.get(MetadataScanner), app.get(Reflector));
  if (config.http.serves.includes('clients')) servePages(app, config.http, logger);
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

/** Serves what people open in a browser. */
function servePages(app: INestApplication, { docs, console: wanted }: HttpConfig, logger: Logger): void {
  const version = packageVersion();
  if (docs) serveDocumentation(app, { title: API_TITLE, createDocument: () => createOpenApiDocument(app, version) });
  const hasConsole = wanted && existsSync(join(CONSOLE_FOLDER, 'index.html'));
  if (hasConsole) serveConsole(app, CONSOLE_FOLDER);
  else if (wanted)
    logger.warn({ folder: CONSOLE_FOLDER }, 'The console is not served, because it is not built. Run: npm run build');
  if (docs || hasConsole) serveStartPage(app, { title: API_TITLE, version, serves: { docs, console: hasConsole } });
}

main().catch(failService('api'));
