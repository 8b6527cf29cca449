import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { Config } from './config/config';
import { ensureDatabase } from './database/ensure-database';
import { LocalFolderService } from './modules/infrastructure/environments/cloud-environments/local-folder.service';
import { LocalHostReporter } from './modules/infrastructure/environments/cloud-environments/background/local-host-reporter';
import { HealthService } from './platform/http/health/health.service';
import { withDegradation } from './platform/http/health/probes';
import { WorkerHealthServer } from './platform/http/health/worker-health-server';
import { createLogger, LOGGER, type Logger, NestLogger } from './platform/kernel/logging/logger';
import { OutboxRelay } from './platform/background/outbox/outbox-relay';
import { failService } from './platform/kernel/process/fail-process';
import { stopOnSignals } from './platform/kernel/process/stop-on-signals';
import { WorkerRuntime } from './platform/background/queues/worker-runtime';
import { WorkerWatch } from './platform/background/workers/worker-watch';
import { ReconcileLoop } from './platform/background/workflows/reconcile-loop';
import { WorkflowRunner } from './platform/background/workflows/workflow-runner';
import { WorkerModule } from './worker.module';

async function main(): Promise<void> {
  const config = Config.load();
  const health = new WorkerHealthServer(config);
  await health.start();
  await ensureDatabase(config, 'worker', createLogger('start', config.product.logLevel));
  const app = await NestFactory.createApplicationContext(WorkerModule, { bufferLogs: true, abortOnError: false });
  const logger = app.get<Logger>(LOGGER);
  app.useLogger(new NestLogger(logger));
  const runtime = app.get(WorkerRuntime);
  const relay = app.get(OutboxRelay);
  const reconcilers = app.get(ReconcileLoop);
  const localFolder = app.get(LocalFolderService);
  const localHost = app.get(LocalHostReporter);
  const workflows = app.get(WorkflowRunner);
  const watch = app.get(WorkerWatch);
  runtime.discover();
  reconcilers.discover();
  stopOnSignals(app, config.http.shutdownMs, logger, async () => {
    health.setReadiness(() => Promise.resolve({ ready: false, message: 'Stopping' }));
    workflows.stop();
    await Promise.all([relay.stop(), reconcilers.stop(), localHost.stop(), runtime.stop()]);
    await localFolder.stop();
    await watch.stop();
    health.stop();
  });
  // The worker consumes jobs only after every provider has started.
  await localFolder.start();
  await localHost.start();
  await watch.startAsWorker();
  runtime.start();
  relay.start();
  reconcilers.start();
  const dependencies = app.get(HealthService);
  health.setReadiness(async () => withDegradation(await dependencies.workerReadiness(), localFolder.failure));
  logger.info('The worker has started');
}

main().catch(failService('worker'));
