import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Config } from '../../config/config';
import { PgListener } from '../../platform/wakeups/pg-listener';

/**
 * Lets long polls wait for a wake-up of their node. One of a node waits at a time, and so many in all: where there is one too
 * many, the one that has waited longest is answered early, which keeps every node heard.
 */
@Injectable()
export class NodeWakeUps implements OnModuleInit, OnModuleDestroy {
  private stopping = false;
  /** By node, the longest waiting first. */
  private readonly waiting = new Map<number, () => void>();
  private readonly maxWaiting: number;

  constructor(
    private readonly listener: PgListener,
    { http }: Config,
  ) {
    this.maxWaiting = http.maxPolls;
  }

  onModuleInit(): void {
    this.listener.on('node', (payload) => {
      if (payload === '') this.wakeAll();
      else this.waiting.get(Number(payload))?.();
    });
  }

  /** A stopping pod lets its polls go before it waits for its requests, so that agents come back to another pod. */
  onModuleDestroy(): void {
    this.stopping = true;
    this.wakeAll();
  }

  /**
   * A wake-up of the node, from now on; a poll of the node that waits already has had its. `cancel` must be called when nobody
   * waits any more.
   */
  subscribe(nodeId: number): { woken: Promise<void>; cancel: () => void } {
    let resolve: () => void = () => undefined;
    const woken = new Promise<void>((done) => {
      resolve = done;
    });
    if (this.stopping) resolve();
    this.end(nodeId);
    for (const [longest] of this.waiting) {
      if (this.waiting.size < this.maxWaiting) break;
      this.end(longest);
    }
    this.waiting.set(nodeId, resolve);
    const cancel = () => {
      if (this.waiting.get(nodeId) === resolve) this.waiting.delete(nodeId);
      resolve();
    };
    return { woken, cancel };
  }

  private end(nodeId: number): void {
    this.waiting.get(nodeId)?.();
    this.waiting.delete(nodeId);
  }

  private wakeAll(): void {
    for (const resolve of this.waiting.values()) resolve();
  }
}
