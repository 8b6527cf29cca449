import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';

/** What a reader takes in its turn, bytes. */
export const TURN_BYTES = 64 * 1024;

/** Between two turns. */
const PAUSE_MS = 2;

/** How much longer than the work on one large body the pause after it is. */
const REST = 2;

/**
 * Lets large bodies have a part of the process only: they come in by turns, some 30 MiB in a second of all of them
 * together, and are worked on one at a time with a rest after each. Whoever asks for something small hardly notices them.
 */
@Injectable()
export class LargeBodyTurns {
  private readonly readers: (() => void)[] = [];
  private timer: NodeJS.Timeout | null = null;
  private worked: Promise<unknown> = Promise.resolve();

  /** Calls back when it is the reader's turn to take {@link TURN_BYTES} more. */
  toRead(go: () => void): void {
    this.readers.push(go);
    this.timer ??= setTimeout(() => this.next(), PAUSE_MS);
  }

  private next(): void {
    this.timer = null;
    this.readers.shift()?.();
    if (this.readers.length > 0) this.timer = setTimeout(() => this.next(), PAUSE_MS);
  }

  /** Runs the work when that of all before has been done and rested from. */
  toWork<T>(work: () => Promise<T>): Promise<T> {
    const done = this.worked.then(async () => {
      const started = performance.now();
      try {
        return { value: await work(), took: performance.now() - started };
      } catch (error) {
        return { error, took: performance.now() - started };
      }
    });
    this.worked = done.then(({ took }) => delay(took * REST));
    return done.then((result) => {
      if ('error' in result) throw result.error;
      return result.value;
    });
  }
}
