import { request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { AGENT_BASE_PATH } from '../../../../libs/contracts/agent-protocol';
import { LOGGER, type Logger } from '../../../platform/kernel/logging/logger';
import { ClusterNodesService } from '../../execution/clusters';
import { withDeadline } from '../../../platform/kernel/process/deadline';

const INTERVAL_MS = 1000;
const TIMEOUT_MS = 5000;
/** Has the form of a node token, so that it is looked up in the database, but belongs to no node. */
const UNKNOWN_TOKEN = '0.nobody';

/**
 * Polls this process once a second like an agent does: over a new connection to its port, up to the check of the token in the
 * database. A process that answers would have answered a node, too, so the second is recorded. A process that is too busy records
 * none, and no node is declared lost because of that time.
 */
@Injectable()
export class AnswerProbe implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly stopping = new AbortController();
  private failing = false;

  constructor(
    private readonly adapter: HttpAdapterHost,
    private readonly nodes: ClusterNodesService,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

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
      const next = delay(INTERVAL_MS, undefined, { signal, ref: false }).catch(() => undefined);
      try {
        await poll(address, signal);
        await this.nodes.recordAnsweredSecond();
        this.failing = false;
      } catch (error) {
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
}

/** Resolves if the poll is answered with the expected 401; rejects on any other response or a timeout. */
function poll({ address, port }: AddressInfo, stopping: AbortSignal): Promise<void> {
  const host = address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address;
  const signal = withDeadline(TIMEOUT_MS, stopping);
  const body = JSON.stringify({ version: 0, wait_ms: 0 });
  const headers = {
    authorization: `Bearer ${UNKNOWN_TOKEN}`,
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
