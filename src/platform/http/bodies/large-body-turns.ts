import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';

/** What a reader takes per turn, bytes. */
export const TURN_BYTES = 64 * 1024;

/** Between two turns. */
const PAUSE_MS = 2;

/** How many times longer the pause after one large body is than the work on it. */
const REST = 2;

/**
 * Gives large bodies only a share of the process: they are read in turns, about 30 MiB a second for all of them
 * together, and processed one at a time with a pause after each. Small requests hardly notice them.
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

  /** Runs the work after all earlier work and the pauses after it. */
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
