import { setImmediate } from 'node:timers/promises';

/** Divides work on many texts into turns of the event loop, which serves others between them. */
export class EventLoopTurns {
  private bytesInTurn = 0;

  constructor(private readonly bytesOfTurn: number) {}

  /** Waits for another turn when this one has had its bytes. */
  async takeFor(bytes: number): Promise<void> {
    this.bytesInTurn += bytes;
    if (this.bytesInTurn < this.bytesOfTurn) return;
    this.bytesInTurn = bytes;
    await setImmediate();
  }
}
