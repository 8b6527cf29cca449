import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';

/** Bytes that a reader may take per turn. */
export const TURN_BYTES = 64 * 1024;

/** Pause between two turns of readers. */
const PAUSE_MS = 2;

/** The pause after the processing of a large body is this many times as long as the processing. */
const PAUSE_FACTOR = 2;

/**
 * Limits large bodies to a share of the process, so that small requests hardly notice them. All together are read in turns
 * at about 30 MiB a second, and processed one at a time with a pause after each.
 */
@Injectable()
export class LargeBodyTurns {
  private readonly readers: (() => void)[] = [];
  private timer: NodeJS.Timeout | null = null;
  private lastWork: Promise<unknown> = Promise.resolve();

  /** Calls back when the reader may take {@link TURN_BYTES} more. */
  waitToRead(callback: () => void): void {
    this.readers.push(callback);
    this.timer ??= setTimeout(() => this.next(), PAUSE_MS);
  }

  private next(): void {
    this.timer = null;
    this.readers.shift()?.();
    if (this.readers.length > 0) this.timer = setTimeout(() => this.next(), PAUSE_MS);
  }

  /** Processes a body after all earlier ones and the pauses after them. */
  process<T>(work: () => Promise<T>): Promise<T> {
    const done = this.lastWork.then(async () => {
      const started = performance.now();
      try {
        return { value: await work(), took: performance.now() - started };
      } catch (error) {
        return { error, took: performance.now() - started };
      }
    });
    this.lastWork = done.then(({ took }) => delay(took * PAUSE_FACTOR));
    return done.then((result) => {
      if ('error' in result) throw result.error;
      return result.value;
    });
  }
}
