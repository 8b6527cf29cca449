import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { runWithoutCaller } from '../../../platform/kernel/context/request-context';
import { LOGGER, type Logger } from '../../../platform/kernel/logging/logger';
import { ClusterNodesService } from '../../execution/clusters';

/** Time until a heartbeat is recorded if no caller waits for it. */
const FLUSH_INTERVAL_MS = 1_000;

interface Batch {
  nodeIds: Set<number>;
  timer: NodeJS.Timeout;
  /** Null until the batch is flushed. Resolves to the nodes whose row another transaction has locked; those are not recorded. */
  flushed: Promise<ReadonlySet<number>> | null;
}

/**
 * Records heartbeats of agents in batches, one statement for many nodes: within a second, or as soon as a caller waits for it. A
 * response that renews the lease of a node must wait for it, because a process that is killed loses the others.
 */
@Injectable()
export class HeartbeatBatcher implements OnApplicationShutdown {
  private batch: Batch | null = null;
  private last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly nodes: ClusterNodesService,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onApplicationShutdown(): void {
    if (this.batch) clearTimeout(this.batch.timer);
  }

  /** Adds a heartbeat of the node. `recorded` flushes it immediately and resolves when it is recorded. */
  add(nodeId: number): { recorded: () => Promise<void> } {
    const batch = (this.batch ??= this.newBatch());
    batch.nodeIds.add(nodeId);
    return {
      recorded: async () => {
        // If the batch fails, each node is recorded separately, so that one bad node does not block the rest.
        const missing = await this.flush(batch).catch(() => batch.nodeIds);
        if (missing.has(nodeId)) await this.nodes.recordHeartbeat(nodeId);
      },
    };
  }

  private newBatch(): Batch {
    const batch: Batch = {
      nodeIds: new Set(),
      flushed: null,
      timer: setTimeout(() => {
        this.flush(batch).catch((error: unknown) =>
          this.logger.warn(
            { err: error },
            'Could not record heartbeats of nodes; the next ones are recorded with the next batch',
          ),
        );
      }, FLUSH_INTERVAL_MS).unref(),
    };
    return batch;
  }

  private flush(batch: Batch): Promise<ReadonlySet<number>> {
    batch.flushed ??= runWithoutCaller(() => this.flushNext(batch));
    return batch.flushed;
  }

  /** Batches are flushed one after another, so heartbeats that arrive during a flush join the next batch. */
  private flushNext(batch: Batch): Promise<ReadonlySet<number>> {
    const recorded = this.last.then(async () => {
      clearTimeout(batch.timer);
      if (this.batch === batch) this.batch = null;
      const locked = new Set(await this.nodes.recordHeartbeats([...batch.nodeIds]));
      for (const nodeId of locked) this.add(nodeId);
      return locked;
    });
    this.last = recorded.catch(() => undefined);
    return recorded;
  }
}
