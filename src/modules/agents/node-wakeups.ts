import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { PgListener } from '../../platform/wakeups/pg-listener';

/** Lets long polls wait for a wake-up of their node. */
@Injectable()
export class NodeWakeUps implements OnModuleInit, OnModuleDestroy {
  private stopping = false;
  private readonly waiting = new Map<number, Set<() => void>>();

  constructor(private readonly listener: PgListener) {}

  onModuleInit(): void {
    this.listener.on('node', (payload) => {
      if (payload === '') this.wakeAll();
      else this.wake(Number(payload));
    });
  }

  /** A stopping pod lets its polls go before it waits for its requests, so that agents come back to another pod. */
  onModuleDestroy(): void {
    this.stopping = true;
    this.wakeAll();
  }

  /** A wake-up of the node, from now on. `cancel` must be called when nobody waits any more. */
  subscribe(nodeId: number): { woken: Promise<void>; cancel: () => void } {
    let resolve: () => void = () => undefined;
    const woken = new Promise<void>((done) => {
      resolve = done;
    });
    if (this.stopping) resolve();
    const waiters = this.waiting.get(nodeId) ?? new Set();
    this.waiting.set(nodeId, waiters.add(resolve));
    const cancel = () => {
      waiters.delete(resolve);
      if (waiters.size === 0 && this.waiting.get(nodeId) === waiters) this.waiting.delete(nodeId);
      resolve();
    };
    return { woken, cancel };
  }

  private wake(nodeId: number): void {
    for (const resolve of this.waiting.get(nodeId) ?? []) resolve();
  }

  private wakeAll(): void {
    for (const waiters of this.waiting.values()) for (const resolve of waiters) resolve();
  }
}
