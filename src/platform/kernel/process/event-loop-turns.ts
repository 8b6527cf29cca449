import { setImmediate } from 'node:timers/promises';

/** Spreads work on many texts over several turns of the event loop, so that other requests are served in between. */
export class EventLoopTurns {
  private bytesInTurn = 0;

  constructor(private readonly bytesPerTurn: number) {}

  /** Waits for the next turn if this one has already processed its share of bytes. */
  async takeFor(bytes: number): Promise<void> {
    this.bytesInTurn += bytes;
    if (this.bytesInTurn < this.bytesPerTurn) return;
    this.bytesInTurn = bytes;
    await setImmediate();
  }
}
