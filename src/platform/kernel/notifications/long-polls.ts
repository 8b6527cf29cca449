import type { OnModuleDestroy, OnModuleInit } from '@nestjs/common';
import type { PgListener, NotificationChannel } from './pg-listener';

/**
 * Lets long polls wait for a notification about an id. One poll waits per id, and a limited number in all. One poll more
 * makes the longest waiting one return early, so that every poll is still served.
 */
export abstract class LongPolls implements OnModuleInit, OnModuleDestroy {
  private stopping = false;
  /** Functions that end waiting polls by id, the longest waiting first. */
  private readonly waiting = new Map<number, () => void>();

  constructor(
    private readonly listener: PgListener,
    private readonly channel: NotificationChannel,
    private readonly maxWaiting: number,
  ) {}

  onModuleInit(): void {
    // The payload has ids separated by commas, or none after the LISTEN connection was lost.
    this.listener.on(this.channel, (payload) => {
      if (payload === '') this.wakeAll();
      else for (const id of payload.split(',')) this.waiting.get(Number(id))?.();
    });
  }

  /** A stopping pod ends its polls before it waits for its requests to end, so that agents poll another pod. */
  onModuleDestroy(): void {
    this.stopping = true;
    this.wakeAll();
  }

  /**
   * Subscribes to the next notification about the id. A poll that already waits for the id returns at once. `cancel` must be
   * called when the poll ends.
   */
  subscribe(id: number): { notified: Promise<void>; cancel: () => void } {
    let resolve: () => void = () => undefined;
    const notified = new Promise<void>((done) => {
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
    return { notified, cancel };
  }

  private end(id: number): void {
    this.waiting.get(id)?.();
    this.waiting.delete(id);
  }

  private wakeAll(): void {
    for (const resolve of this.waiting.values()) resolve();
  }
}

/** Waits for the notification, the timeout or the end of the connection, whichever is first. */
export async function waitForNotification(
  notified: Promise<void>,
  timeoutMs: number,
  closed: Promise<unknown>,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs);
  });
  await Promise.race([notified, timeout, closed]);
  clearTimeout(timer);
}
