import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';

/** Holds the id under which this process claims work, while it is certain that other processes see it as a living worker. */
@Injectable()
export class ThisWorker {
  private id: number | null = null;
  private readonly listeners = new Set<() => void>();

  /** Makes claims under this id from now on. */
  setId(id: number): void {
    this.id = id;
  }

  /**
   * Calls the listeners, and refuses new claims until {@link setId}: other workers may have taken over the work of this process,
   * or may do so at any moment.
   */
  fence(): void {
    this.id = null;
    for (const listener of this.listeners) listener();
  }

  /** Calls `listener` at each {@link fence}. */
  onFence(listener: () => void): void {
    this.listeners.add(listener);
  }

  /** Returns the owner of a new claim, which begins with the id of the worker. Throws if the process has no id. */
  newOwner(): string {
    if (this.id === null) throw new Error('This process is not registered as a worker at the moment');
    return `${this.id}:${randomUUID()}`;
  }
}
