import { request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { AGENT_BASE_PATH } from '../../../../libs/contracts/agent-protocol';
import { LOGGER, type Logger } from '../../../platform/kernel/logging/logger';
import { ClusterNodesService } from '../../execution/clusters';
import { withDeadline } from '../../../platform/kernel/process/deadline';

const EVERY_MS = 1000;
const ANSWER_WITHIN_MS = 5000;
/** In the form of a node's token, but nobody's, so it is looked up in the database. */
const NOBODY = '0.nobody';

/**
 * Calls this process once a second as an agent does: over a new connection to the port on which it listens, with a poll
 * that gets as far as the check of its token in the database. A process that answers it would have answered a node, so
 * the second is recorded; one that is too busy records none, and no node is declared lost for that time.
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
      const next = delay(EVERY_MS, undefined, { signal, ref: false }).catch(() => undefined);
      try {
        await poll(address, signal);
        await this.nodes.recordAnsweredSecond();
        this.failing = false;
      } catch (error) {
        if (!this.failing && !signal.aborted) {
          this.logger.warn({ err: error }, 'This process does not answer agents; nodes are not called lost for it');
        }
        this.failing = true;
      }
      await next;
    }
  }
}

/** Resolves if the poll is answered as it must be; rejects if not, or not in time. */
function poll({ address, port }: AddressInfo, stopping: AbortSignal): Promise<void> {
  const host = address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address;
  const signal = withDeadline(ANSWER_WITHIN_MS, stopping);
  const body = JSON.stringify({ version: 0, wait_ms: 0 });
  const headers = {
    authorization: `Bearer ${NOBODY}`,
    'content-type': 'application/json',
    'content-length': body.length,
  };
  return new Promise((resolve, reject) => {
    const options = { host, port, method: 'POST', path: `${AGENT_BASE_PATH}/poll`, headers, agent: false, signal };
    const probe = request(options, (answer) => {
      answer.on('error', reject).resume();
      if (answer.statusCode === 401) answer.on('end', resolve);
      else reject(new Error(`A poll of this process itself was answered ${answer.statusCode}.`));
    });
    probe.on('error', reject).end(body);
  });
}
