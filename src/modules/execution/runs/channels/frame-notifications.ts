import { Inject, Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { LOGGER, type Logger } from '../../../../platform/kernel/logging/logger';
import { Pump } from '../../../../platform/kernel/process/pump';
import { PgListener } from '../../../../platform/kernel/notifications/pg-listener';
import { RunChannelsRepository } from './run-channels.repository';

/** How often the process looks whether it has missed a wake-up. */
const LOOK_MS = 2_000;
/** Most runs that one statement looks at. */
const RUNS_AT_ONCE = 1_000;

interface Followed {
  readonly listeners: Set<() => void>;
  /** How many frames the run had said at the last look; null before the first. */
  frames: number | null;
}

/** Tells whoever follows a run in this process that it may have said something. */
@Injectable()
export class FrameNotifications implements OnModuleInit, OnModuleDestroy {
  private readonly followed = new Map<number, Followed>();
  private readonly looks = new Pump(() => this.look(), {
    intervalMs: LOOK_MS,
    failed: (error) => this.logger.warn({ err: error }, 'Did not look for missed frames of runs; trying again'),
  });

  constructor(
    private readonly listener: PgListener,
    private readonly repository: RunChannelsRepository,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onModuleInit(): void {
    this.listener.on('run_frames', (payload) => {
      const ids = payload === '' ? [...this.followed.keys()] : payload.split(',').map(Number);
      for (const id of ids) this.wake(id);
    });
    this.looks.wake();
  }

  onModuleDestroy(): void {
    void this.looks.stop();
  }

  /** Calls `listener` when the run may have said something, perhaps without cause; the returned function ends that. */
  on(runId: number, listener: () => void): () => void {
    const followed = this.followed.get(runId) ?? { listeners: new Set(), frames: null };
    followed.listeners.add(listener);
    this.followed.set(runId, followed);
    return () => {
      followed.listeners.delete(listener);
      if (followed.listeners.size === 0 && this.followed.get(runId) === followed) this.followed.delete(runId);
    };
  }

  private wake(runId: number): void {
    for (const listener of this.followed.get(runId)?.listeners ?? []) listener();
  }

  /** One statement for all runs that are followed, so that it costs little while nothing happens. */
  private async look(): Promise<void> {
    const ids = [...this.followed.keys()];
    for (let at = 0; at < ids.length; at += RUNS_AT_ONCE) {
      const found = await this.repository.lastFrames(ids.slice(at, at + RUNS_AT_ONCE));
      for (const [id, frames] of found) {
        const followed = this.followed.get(id);
        if (!followed || followed.frames === frames) continue;
        followed.frames = frames;
        this.wake(id);
      }
    }
  }
}
