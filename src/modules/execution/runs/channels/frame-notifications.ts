import { Inject, Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { LOGGER, type Logger } from '../../../../platform/kernel/logging/logger';
import { Pump } from '../../../../platform/kernel/process/pump';
import { PgListener } from '../../../../platform/kernel/notifications/pg-listener';
import { RunChannelsRepository } from './run-channels.repository';

/** A notification can be lost, so the process also polls. */
const POLL_INTERVAL_MS = 2_000;
const MAX_RUNS_PER_QUERY = 1_000;

interface Subscription {
  readonly listeners: Set<() => void>;
  /** Number of the run's last frame at the last poll; null before the first poll. */
  lastFrame: number | null;
}

/** Notifies the subscribers of a run in this process that it may have sent frames. */
@Injectable()
export class FrameNotifications implements OnModuleInit, OnModuleDestroy {
  private readonly subscriptions = new Map<number, Subscription>();
  private readonly polling = new Pump(() => this.pollForMissedFrames(), {
    intervalMs: POLL_INTERVAL_MS,
    failed: (error) =>
      this.logger.warn({ err: error }, 'Could not poll for frames of runs whose notification was lost; polling again'),
  });

  constructor(
    private readonly listener: PgListener,
    private readonly repository: RunChannelsRepository,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onModuleInit(): void {
    this.listener.on('run_frames', (payload) => {
      const ids = payload === '' ? [...this.subscriptions.keys()] : payload.split(',').map(Number);
      for (const id of ids) this.notify(id);
    });
    this.polling.wake();
  }

  onModuleDestroy(): void {
    void this.polling.stop();
  }

  /** Calls `listener` when the run may have sent frames; it can be called without cause. Returns a function that unsubscribes. */
  subscribe(runId: number, listener: () => void): () => void {
    const subscription = this.subscriptions.get(runId) ?? { listeners: new Set(), lastFrame: null };
    subscription.listeners.add(listener);
    this.subscriptions.set(runId, subscription);
    return () => {
      subscription.listeners.delete(listener);
      if (subscription.listeners.size === 0 && this.subscriptions.get(runId) === subscription)
        this.subscriptions.delete(runId);
    };
  }

  private notify(runId: number): void {
    for (const listener of this.subscriptions.get(runId)?.listeners ?? []) listener();
  }

  /** One statement reads up to {@link MAX_RUNS_PER_QUERY} runs, so polling is cheap while nothing happens. */
  private async pollForMissedFrames(): Promise<void> {
    const ids = [...this.subscriptions.keys()];
    for (let at = 0; at < ids.length; at += MAX_RUNS_PER_QUERY) {
      const found = await this.repository.lastFrames(ids.slice(at, at + MAX_RUNS_PER_QUERY));
      for (const [id, lastFrame] of found) {
        const subscription = this.subscriptions.get(id);
        if (!subscription || subscription.lastFrame === lastFrame) continue;
        subscription.lastFrame = lastFrame;
        this.notify(id);
      }
    }
  }
}
