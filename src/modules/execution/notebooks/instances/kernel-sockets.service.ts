import { Inject, Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import type { UpgradeHandler } from '../../../../platform/http/upgrades/upgrades';
import { UntrustedJson } from '../../../../platform/kernel/json/untrusted-json';
import { LOGGER, type Logger } from '../../../../platform/kernel/logging/logger';
import { Transactions } from '../../../../platform/kernel/persistence/transactions';
import { Pump } from '../../../../platform/kernel/process/pump';
import { type Run, RunChannelsService } from '../../runs';
import { KernelClient } from './kernel-client';
import { KernelFeed } from './kernel-feed';
import { FRAME_JSON, kernelFrame } from './kernel-messages';
import { KernelsRepository, type Position } from './kernels.repository';
import { KernelsService } from './kernels.service';

/** Interval of saving positions and polling for ended instances. */
const POLL_INTERVAL_MS = 1_000;
const BATCH = 500;
/** Approximate size of the frames in one read, which returns at least one batch. */
const FRAME_PAGE_BYTES = 256 * 1024;
/** Bounds the replies to the open requests of an ended instance. */
const MAX_UNANSWERED = 1_000;

interface OpenClient {
  client: KernelClient;
  run: Pick<Run, 'run_id' | 'tenant_id' | 'job_conf_id'>;
  sessionId: string;
  ending: boolean;
}

/** The sockets to one kernel. */
interface OpenKernel {
  feed: KernelFeed;
  clients: Set<KernelClient>;
  stop: () => void;
}

@Injectable()
export class KernelSocketsService implements OnModuleInit, OnModuleDestroy {
  private readonly open = new Set<OpenClient>();
  private readonly openKernels = new Map<number, OpenKernel>();
  private readonly polling = new Pump(() => this.savePositionsAndEnd(), {
    intervalMs: POLL_INTERVAL_MS,
    failed: (error) =>
      this.logger.warn(
        { err: error },
        'Could not save the positions of sockets to kernels or poll for ended notebooks; trying again',
      ),
  });

  constructor(
    private readonly transactions: Transactions,
    private readonly kernels: KernelsRepository,
    private readonly service: KernelsService,
    private readonly channels: RunChannelsService,
    private readonly json: UntrustedJson,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onModuleInit(): void {
    this.polling.wake();
  }

  async onModuleDestroy(): Promise<void> {
    void this.polling.stop();
    await this.kernels.savePositions([...this.open].map(positionOf), false).catch(() => undefined);
  }

  /** Returns a handler that connects a socket to the kernel of an instance, from the position of the session on. */
  async connect(run: Pick<Run, 'run_id' | 'tenant_id' | 'job_conf_id'>, sessionId: string): Promise<UpgradeHandler> {
    const delivered = await this.transactions.run((tx) => this.kernels.openSession(tx, run.run_id, sessionId));
    return (socket) => {
      const failed = (error: unknown) =>
        this.logger.error({ err: error, run_id: run.run_id }, 'A socket to a kernel failed and was closed');
      const kernel = this.kernelOf(run);
      const messagesAfter = kernel.feed.messagesAfter.bind(kernel.feed);
      const handlers = { messagesAfter, submit: this.service.submit.bind(this.service, run), failed };
      const client = new KernelClient(socket, handlers, delivered);
      const opened: OpenClient = { client, run, sessionId, ending: false };
      kernel.clients.add(client);
      this.open.add(opened);
      socket.once('close', () => {
        this.remove(kernel, opened);
        this.kernels.savePositions([positionOf(opened)], this.hasOtherSocket(opened)).catch(failed);
      });
      client.wake();
    };
  }

  private kernelOf({ run_id: runId, tenant_id: tenantId }: OpenClient['run']): OpenKernel {
    const known = this.openKernels.get(runId);
    if (known) return known;
    const feed = new KernelFeed(
      (after) => this.channels.frames(runId, after, FRAME_PAGE_BYTES),
      async (payload) => kernelFrame(await this.json.readOpaque(tenantId, payload, FRAME_JSON)),
    );
    const clients = new Set<KernelClient>();
    const stop = this.channels.subscribeToFrames(runId, () => {
      feed.invalidate();
      for (const client of clients) client.wake();
    });
    const kernel = { feed, clients, stop };
    this.openKernels.set(runId, kernel);
    return kernel;
  }

  private remove(kernel: OpenKernel, opened: OpenClient): void {
    this.open.delete(opened);
    kernel.clients.delete(opened.client);
    if (kernel.clients.size > 0) return;
    kernel.stop();
    this.openKernels.delete(opened.run.run_id);
  }

  /** Returns true if the session has another socket to the same kernel in this process. */
  private hasOtherSocket({ run, sessionId }: OpenClient): boolean {
    return [...this.open].some((other) => other.run.run_id === run.run_id && other.sessionId === sessionId);
  }

  private async savePositionsAndEnd(): Promise<void> {
    const all = [...this.open];
    for (let at = 0; at < all.length; at += BATCH) {
      const some = all.slice(at, at + BATCH);
      await this.kernels.savePositions(some.map(positionOf), true);
      const ended = await this.kernels.endedRuns([...new Set(some.map(({ run }) => run.run_id))]);
      for (const one of some) if (ended.has(one.run.run_id) && !one.ending) this.end(one);
    }
  }

  private end(one: OpenClient): void {
    one.ending = true;
    // The last notification may still be on its way.
    this.openKernels.get(one.run.run_id)?.feed.invalidate();
    this.kernels
      .unanswered(one.run.run_id, MAX_UNANSWERED)
      .then((ids) => one.client.end(ids, 'The notebook ended before this was executed.'))
      .catch((error: unknown) => {
        one.ending = false;
        this.logger.warn(
          { err: error, run_id: one.run.run_id },
          'Could not close a socket of an ended notebook; trying again',
        );
      });
  }
}

function positionOf({ client, run, sessionId }: OpenClient): Position {
  return { run_id: run.run_id, session_id: sessionId, delivered: client.delivered };
}
