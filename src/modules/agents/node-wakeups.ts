import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Config } from '../../config/config';
import { PgListener } from '../../platform/wakeups/pg-listener';

/**
 * Lets long polls wait for a wake-up of their node. One poll per node waits at a time, and a limited number in all: if
 * there is one too many, the one that has waited longest is answered early, so every node is still heard.
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
    // Ids of nodes, separated by commas; none after the connection for wake-ups was lost.
    this.listener.on('node', (payload) => {
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
   * A wake-up of the node, from now on; a poll of the node that is already waiting gets its wake-up at once. `cancel`
   * must be called when nobody waits any longer.
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
