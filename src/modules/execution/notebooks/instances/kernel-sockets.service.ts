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

/** How often positions are kept, and ends of instances looked for. */
const LOOK_MS = 1_000;
/** Positions in one statement. */
const BATCH = 500;
/** Frames that a client is sent from one read, bytes: about so many, but one piece at least. */
const AT_ONCE_BYTES = 256 * 1024;
/** Requests that are answered for an instance that has ended. */
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

/** The sockets to kernels that this process serves. */
@Injectable()
export class KernelSocketsService implements OnModuleInit, OnModuleDestroy {
  private readonly open = new Set<OpenClient>();
  private readonly ofRuns = new Map<number, OpenKernel>();
  private readonly looks = new Pump(() => this.look(), {
    intervalMs: LOOK_MS,
    failed: (error) => this.logger.warn({ err: error }, 'Positions of sockets to kernels are kept later'),
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
    this.looks.wake();
  }

  async onModuleDestroy(): Promise<void> {
    void this.looks.stop();
    await this.kernels.keep([...this.open].map(positionOf), false).catch(() => undefined);
  }

  /** What connects a socket to the kernel of an instance, from where the session's last socket was. */
  async connect(run: Pick<Run, 'run_id' | 'tenant_id' | 'job_conf_id'>, sessionId: string): Promise<UpgradeHandler> {
    const delivered = await this.transactions.run((tx) => this.kernels.begin(tx, run.run_id, sessionId));
    return (socket) => {
      const failed = (error: unknown) =>
        this.logger.error({ err: error, run_id: run.run_id }, 'The socket of a kernel failed');
      const kernel = this.kernelOf(run);
      const behind = kernel.feed.behind.bind(kernel.feed);
      const work = { behind, ask: this.service.ask.bind(this.service, run), failed };
      const client = new KernelClient(socket, work, delivered);
      const opened: OpenClient = { client, run, sessionId, ending: false };
      kernel.clients.add(client);
      this.open.add(opened);
      socket.once('close', () => {
        this.leave(kernel, opened);
        this.kernels.keep([positionOf(opened)], this.isOpen(opened)).catch(failed);
      });
      client.wake();
    };
  }

  private kernelOf({ run_id: runId, tenant_id: tenantId }: OpenClient['run']): OpenKernel {
    const known = this.ofRuns.get(runId);
    if (known) return known;
    const feed = new KernelFeed(
      (after) => this.channels.frames(runId, after, AT_ONCE_BYTES),
      async (payload) => kernelFrame(await this.json.readOpaque(tenantId, payload, FRAME_JSON)),
    );
    const clients = new Set<KernelClient>();
    const stop = this.channels.subscribeToFrames(runId, () => {
      feed.renew();
      for (const client of clients) client.wake();
    });
    const kernel = { feed, clients, stop };
    this.ofRuns.set(runId, kernel);
    return kernel;
  }

  private leave(kernel: OpenKernel, opened: OpenClient): void {
    this.open.delete(opened);
    kernel.clients.delete(opened.client);
    if (kernel.clients.size > 0) return;
    kernel.stop();
    this.ofRuns.delete(opened.run.run_id);
  }

  /** Whether the session has another socket to the same kernel here. */
  private isOpen({ run, sessionId }: OpenClient): boolean {
    return [...this.open].some((other) => other.run.run_id === run.run_id && other.sessionId === sessionId);
  }

  private async look(): Promise<void> {
    const all = [...this.open];
    for (let at = 0; at < all.length; at += BATCH) {
      const some = all.slice(at, at + BATCH);
      await this.kernels.keep(some.map(positionOf), true);
      const ended = await this.kernels.ended([...new Set(some.map(({ run }) => run.run_id))]);
      for (const one of some) if (ended.has(one.run.run_id) && !one.ending) this.end(one);
    }
  }

  private end(one: OpenClient): void {
    one.ending = true;
    // The last wake-up may still be on its way.
    this.ofRuns.get(one.run.run_id)?.feed.renew();
    this.kernels
      .unanswered(one.run.run_id, MAX_UNANSWERED)
      .then((ids) => one.client.end(ids, 'The notebook ended before this was executed.'))
      .catch((error: unknown) => {
        one.ending = false;
        this.logger.warn({ err: error, run_id: one.run.run_id }, 'The socket of an ended notebook is closed later');
      });
  }
}

function positionOf({ client, run, sessionId }: OpenClient): Position {
  return { run_id: run.run_id, session_id: sessionId, delivered: client.delivered };
}
