import { request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { AGENT_BASE_PATH } from '../../../../libs/contracts/agent-protocol';
import { LOGGER, type Logger } from '../../../platform/kernel/logging/logger';
import { Config } from '../../../config/config';
import { ClusterNodesService } from '../../execution/clusters';
import { withDeadline } from '../../../platform/kernel/process/deadline';
import { AnsweredTimes, POLL_INTERVAL_MS } from './answered-times';

const TIMEOUT_MS = 5000;
/** Longest interval between two polls that reach the database, milliseconds. */
const MAX_DATABASE_INTERVAL_MS = 5000;
/** Part of the lease which that interval may be at most, so that the silence of a node is counted soon enough. */
const DATABASE_INTERVALS_PER_LEASE = 36;
/** Has the form of a node token, so that it is looked up in the database, but belongs to no node. */
const UNKNOWN_TOKEN = '0.nobody';
/** Has another form, so that it is refused without the database. */
const MALFORMED_TOKEN = 'nobody';

/**
 * Polls this process once a second like an agent does: over a new connection to its port, up to the check of the token, which
 * every few seconds is in the database, and every second while a node is silent. A process that answers would have answered a
 * node, too, so the second is recorded. A process that is too busy records none, and no node is declared lost because of that
 * time.
 */
@Injectable()
export class AnswerProbe implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly stopping = new AbortController();
  private readonly times: AnsweredTimes;
  private failing = false;

  constructor(
    private readonly adapter: HttpAdapterHost,
    private readonly nodes: ClusterNodesService,
    { agent: { leaseMs } }: Config,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.times = new AnsweredTimes(Math.min(MAX_DATABASE_INTERVAL_MS, leaseMs / DATABASE_INTERVALS_PER_LEASE));
  }

  onApplicationBootstrap(): void {
    const server = this.adapter.httpAdapter.getHttpServer() as Server;
    server.once('listening', () => void this.run(server.address() as AddressInfo));
  }

  onModuleDestroy(): void {
    this.stopping.abort();
  }

  private async run(address: AddressInfo): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      const next = delay(POLL_INTERVAL_MS, undefined, { signal, ref: false }).catch(() => undefined);
      try {
        await this.probe(address, signal);
        this.failing = false;
      } catch (error) {
        this.times.failed();
        if (!this.failing && !signal.aborted) {
          this.logger.warn(
            { err: error },
            'This process does not answer the polls of agents in time; nodes are not declared lost meanwhile',
          );
        }
        this.failing = true;
      }
      await next;
    }
  }

  private async probe(address: AddressInfo, signal: AbortSignal): Promise<void> {
    const begunAt = performance.now();
    if (!this.times.mustReach(begunAt)) {
      await poll(address, MALFORMED_TOKEN, signal);
      this.times.answered(performance.now());
      return;
    }
    await poll(address, UNKNOWN_TOKEN, signal);
    const isAnySilent = await this.nodes.recordAnsweredSeconds(this.times.reached(begunAt, performance.now()));
    this.times.reachAlways(isAnySilent);
  }
}

/** Resolves if the poll with this token is answered with the expected 401; rejects on any other response or a timeout. */
function poll({ address, port }: AddressInfo, token: string, stopping: AbortSignal): Promise<void> {
  const host = address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address;
  const signal = withDeadline(TIMEOUT_MS, stopping);
  const body = JSON.stringify({ version: 0, wait_ms: 0 });
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'content-length': body.length,
  };
  return new Promise((resolve, reject) => {
    const options = { host, port, method: 'POST', path: `${AGENT_BASE_PATH}/poll`, headers, agent: false, signal };
    const probe = request(options, (response) => {
      response.on('error', reject).resume();
      if (response.statusCode === 401) response.on('end', resolve);
      else reject(new Error(`This process answered its own poll with ${response.statusCode} instead of 401.`));
    });
    probe.on('error', reject).end(body);
  });
}
