import type { OnModuleDestroy, OnModuleInit } from '@nestjs/common';
import type { PgListener, NotificationChannel } from './pg-listener';

/**
 * Lets long polls wait for a wake-up of what they are about, by its id. One poll per id waits at a time, and a limited
 * number in all: if there is one too many, the one that has waited longest is answered early, so everybody is still heard.
 */
export abstract class LongPolls implements OnModuleInit, OnModuleDestroy {
  private stopping = false;
  /** By id, the longest waiting first. */
  private readonly waiting = new Map<number, () => void>();

  constructor(
    private readonly listener: PgListener,
    private readonly channel: NotificationChannel,
    private readonly maxWaiting: number,
  ) {}

  onModuleInit(): void {
    // Ids, separated by commas; none after the connection for wake-ups was lost.
    this.listener.on(this.channel, (payload) => {
      if (payload === '') this.wakeAll();
      else for (const id of payload.split(',')) this.waiting.get(Number(id))?.();
    });
  }

  /** A stopping pod ends its polls before it waits for its requests, so that agents move to another pod. */
  onModuleDestroy(): void {
    this.stopping = true;
    this.wakeAll();
  }

  /**
   * A wake-up of what has the id, from now on; a poll of it that is already waiting gets its wake-up at once. `cancel`
   * must be called when nobody waits any longer.
   */
  subscribe(id: number): { woken: Promise<void>; cancel: () => void } {
    let resolve: () => void = () => undefined;
    const woken = new Promise<void>((done) => {
      resolve = done;
    });
    if (this.stopping) resolve();
    this.end(id);
    for (const [longest] of this.waiting) {
      if (this.waiting.size < this.maxWaiting) break;
      this.end(longest);
    }
    this.waiting.set(id, resolve);
    const cancel = () => {
      if (this.waiting.get(id) === resolve) this.waiting.delete(id);
      resolve();
    };
    return { woken, cancel };
  }

  private end(id: number): void {
    this.waiting.get(id)?.();
    this.waiting.delete(id);
  }

  private wakeAll(): void {
    for (const resolve of this.waiting.values()) resolve();
  }
}

/** Waits for the wake-up, the deadline or the end of the connection, whichever is first. */
export async function waitForNotification(woken: Promise<void>, ms: number, gone: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([woken, over, gone]);
  clearTimeout(timer);
}
