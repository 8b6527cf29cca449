import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { Config } from '../../../config/config';
import type { JobDefinition } from './job-catalogue';
import { RedisFailures } from '../../kernel/errors/redis-failures';

/** Data of every BullMQ job: the payload of its definition, and the correlation id of the request that caused it. */
export interface JobEnvelope {
  payload: Record<string, unknown>;
  correlation_id: string;
}

/** Creates a connection to Redis for BullMQ, whose commands wait for a reconnect instead of failing. */
export function createQueueConnection(url: string, failures: RedisFailures): Redis {
  const redis = new Redis(url, {
    maxRetriesPerRequest: null,
    enableReadyCheck: true,
    retryStrategy: (times) => Math.min(times * 100, 2000),
  });
  failures.watch(redis);
  return redis;
}

/** Adds jobs to the queues. */
@Injectable()
export class Queues implements OnApplicationShutdown {
  private readonly connection: Redis;
  private readonly queues = new Map<string, Queue<JobEnvelope>>();

  constructor(
    private readonly config: Config,
    failures: RedisFailures,
  ) {
    this.connection = createQueueConnection(config.redis.url, failures);
  }

  async add(
    name: string,
    definition: JobDefinition,
    payload: Record<string, unknown>,
    options: { jobId: string; delayMs: number; correlationId: string },
  ): Promise<void> {
    await this.queue(definition.queue).add(
      name,
      { payload, correlation_id: options.correlationId },
      {
        jobId: options.jobId,
        delay: options.delayMs,
        attempts: definition.attempts,
        backoff: { type: 'exponential', delay: definition.backoffMs },
        removeOnComplete: { count: definition.keepCompleted },
        removeOnFail: { count: definition.keepFailed },
      },
    );
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.allSettled([...this.queues.values()].map((queue) => queue.close()));
    this.connection.disconnect();
  }

  private queue(name: string): Queue<JobEnvelope> {
    let queue = this.queues.get(name);
    if (!queue) {
      queue = new Queue<JobEnvelope>(name, { connection: this.connection, prefix: this.config.redis.prefix });
      // The connection logs its errors itself. Without a listener, BullMQ would print each of them.
      queue.on('error', () => undefined);
      this.queues.set(name, queue);
    }
    return queue;
  }
}
