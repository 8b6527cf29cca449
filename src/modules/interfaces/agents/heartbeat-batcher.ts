import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { runWithoutCaller } from '../../../platform/kernel/context/request-context';
import { LOGGER, type Logger } from '../../../platform/kernel/logging/logger';
import { ClusterNodesService } from '../../execution/clusters';

/** Longest time until a sign of life is recorded, if nobody waits for it; milliseconds. */
const COLLECT_MS = 1_000;

/** Signs of life that are recorded together. */
interface Batch {
  nodeIds: Set<number>;
  timer: NodeJS.Timeout;
  /** Once it is being recorded; resolves with those whose row somebody else has locked, which are not yet recorded. */
  recording: Promise<ReadonlySet<number>> | null;
}

/**
 * Records that agents were heard, many nodes with one statement: a sign of life is recorded within a second, or as soon
 * as somebody waits for it. An answer that renews the lease of a node must wait for it, for a process that is killed
 * forgets the others.
 */
@Injectable()
export class HeartbeatBatcher implements OnApplicationShutdown {
  /** What is being collected. */
  private batch: Batch | null = null;
  private last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly nodes: ClusterNodesService,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onApplicationShutdown(): void {
    if (this.batch) clearTimeout(this.batch.timer);
  }

  /** Notes that the node was heard now. `recorded` has it recorded at once and resolves when that is done. */
  note(nodeId: number): { recorded: () => Promise<void> } {
    const batch = (this.batch ??= this.begin());
    batch.nodeIds.add(nodeId);
    return {
      recorded: async () => {
        // Of a batch that failed each goes on its own: one of them may be the reason.
        const missing = await this.record(batch).catch(() => batch.nodeIds);
        if (missing.has(nodeId)) await this.nodes.recordHeartbeat(nodeId);
      },
    };
  }

  private begin(): Batch {
    const batch: Batch = {
      nodeIds: new Set(),
      recording: null,
      timer: setTimeout(() => {
        this.record(batch).catch((error: unknown) =>
          this.logger.warn({ err: error }, 'Signs of life were not recorded'),
        );
      }, COLLECT_MS).unref(),
    };
    return batch;
  }

  private record(batch: Batch): Promise<ReadonlySet<number>> {
    batch.recording ??= runWithoutCaller(() => this.recordNext(batch));
    return batch.recording;
  }

  /** One after the other: what is heard while one is being recorded goes with the next. */
  private recordNext(batch: Batch): Promise<ReadonlySet<number>> {
    const recorded = this.last.then(async () => {
      clearTimeout(batch.timer);
      if (this.batch === batch) this.batch = null;
      const locked = new Set(await this.nodes.recordHeartbeats([...batch.nodeIds]));
      for (const nodeId of locked) this.note(nodeId);
      return locked;
    });
    this.last = recorded.catch(() => undefined);
    return recorded;
  }
}
