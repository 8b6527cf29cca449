import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';

/** Under which id this process claims work, if it is a worker and sure to be taken for one. */
@Injectable()
export class ThisWorker {
  private id: number | null = null;
  private readonly listeners = new Set<() => void>();

  /** From now on claims are made under this id. */
  become(id: number): void {
    this.id = id;
  }

  /**
   * Others may have taken over, or will any moment, what this process holds: calls the listeners, and refuses new
   * claims until {@link become}.
   */
  fence(): void {
    this.id = null;
    for (const listener of this.listeners) listener();
  }

  /** Calls `listener` at each {@link fence}. */
  onFence(listener: () => void): void {
    this.listeners.add(listener);
  }

  /** A name for a new claim, which begins with the id of the worker. Throws when there is none. */
  newOwner(): string {
    if (this.id === null) throw new Error('This process is not registered as a worker at the moment');
    return `${this.id}:${randomUUID()}`;
  }
}
