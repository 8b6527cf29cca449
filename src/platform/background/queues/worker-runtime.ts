import { Inject, Injectable } from '@nestjs/common';
import { DiscoveryService, Reflector } from '@nestjs/core';
import { UnrecoverableError, Worker } from 'bullmq';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import type { Redis } from 'ioredis';
import { Config } from '../../../config/config';
import { runInContext } from '../../kernel/context/request-context';
import { messageOf } from '../../kernel/errors/message-of';
import { LOGGER, type Logger } from '../../kernel/logging/logger';
import { Throttle } from '../../kernel/logging/throttle';
import { WorkflowJobs } from '../workflows/workflow-jobs';
import { type JobName, knownJobs } from './job-catalogue';
import { JOB_HANDLER_METADATA, type JobHandler } from './job-handler';
import { createQueueConnection, type JobEnvelope } from './queues';
import { RedisFailures } from '../../kernel/errors/redis-failures';

/** Number of checks for stalled jobs within the time of a lock. */
const STALLED_CHECKS_PER_LOCK = 3;

const LOG_INTERVAL_MS = 10_000;

/** Consumes the queues this pod serves. */
@Injectable()
export class WorkerRuntime {
  private readonly handlers = new Map<string, (payload: never) => Promise<void>>();
  private readonly workers: Worker<JobEnvelope>[] = [];
  private readonly connections: Redis[] = [];
  private readonly throttle = new Throttle(LOG_INTERVAL_MS);

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly reflector: Reflector,
    private readonly workflows: WorkflowJobs,
    private readonly config: Config,
    private readonly redisFailures: RedisFailures,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Finds the handlers. Throws if a job has none or two. */
  discover(): void {
    for (const [name, handle] of this.workflows.handlers()) this.handlers.set(name, handle);
    for (const wrapper of this.discovery.getProviders()) {
      if (!wrapper.metatype || typeof wrapper.metatype !== 'function') continue;
      const names = this.reflector.get<JobName[] | undefined>(JOB_HANDLER_METADATA, wrapper.metatype) ?? [];
      for (const name of names) {
        if (this.handlers.has(name)) throw new Error(`Job ${name} has two handlers`);
        const handler = wrapper.instance as JobHandler;
        this.handlers.set(name, (payload) => handler.handle(payload, name));
      }
    }
    const missing = [...knownJobs().keys()].filter((name) => !this.handlers.has(name));
    if (missing.length > 0) throw new Error(`These jobs have no handler: ${missing.join(', ')}`);
  }

  start(): void {
    const { queues, concurrency } = this.config.worker;
    for (const queue of queues) {
      const connection = createQueueConnection(this.config.redis.url, this.redisFailures);
      this.connections.push(connection);
      const lockMs = Math.max(
        ...[...knownJobs().values()].filter((job) => job.queue === queue).map((job) => job.lockMs),
      );
      const worker = new Worker<JobEnvelope>(queue, (job) => this.process(job.name, job.data), {
        connection,
        prefix: this.config.redis.prefix,
        concurrency,
        lockDuration: lockMs,
        stalledInterval: lockMs / STALLED_CHECKS_PER_LOCK,
      });
      worker.on('error', (error) => this.reportError(queue, error));
      worker.on('failed', (job, error) => this.logger.error({ queue, job: job?.name, err: error }, 'A job failed'));
      this.workers.push(worker);
    }
    this.logger.info({ queues }, 'Serving queues');
  }

  /** Lets running jobs finish, within the shutdown deadline of the process. */
  async stop(): Promise<void> {
    await Promise.allSettled(this.workers.map((worker) => worker.close()));
    for (const connection of this.connections) connection.disconnect();
  }

  /** Logs an error of a queue, at most once per interval: without Redis, each queue has several a second. */
  private reportError(queue: string, error: Error): void {
    const leftOut = this.throttle.pass();
    if (leftOut === null) return;
    this.logger.warn({ queue, reason: messageOf(error), left_out: leftOut }, 'A queue reports an error');
  }

  private async process(name: string, envelope: JobEnvelope): Promise<void> {
    const definition = knownJobs().get(name);
    if (!definition) throw new UnrecoverableError(`Unknown job ${name}`);
    const payload = plainToInstance(definition.payload, envelope.payload);
    const problems = validateSync(payload, { whitelist: true });
    if (problems.length > 0)
      throw new UnrecoverableError(`Payload of ${name} is not valid: ${problems.map(String).join('; ')}`);
    const handler = this.handlers.get(name);
    if (!handler) throw new UnrecoverableError(`Job ${name} has no handler`);
    await runInContext({ correlationId: envelope.correlation_id, idempotency: null }, () => handler(payload as never));
  }
}
