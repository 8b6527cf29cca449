import { type DomainError, overloaded } from '../../kernel/errors/domain-error';

/** Share of the room that a single caller may have. */
const SHARE_OF_ONE = 0.5;

/** What one request takes of the room; counts until it is released. */
export interface HeldBytes {
  /** Throws a 503 when there is no room for more. */
  add(bytes: number): void;
  release(): void;
}

/**
 * Bounds the bytes of bodies that a process keeps at once. A caller gets at most half of the room, so that no single
 * caller keeps the others out.
 */
export class BodyMemory {
  private held = 0;
  private readonly byCaller = new Map<string, number>();

  constructor(private readonly maxBytes: number) {}

  hold(caller: string): HeldBytes {
    let held = 0;
    const add = (bytes: number) => {
      const ofCaller = (this.byCaller.get(caller) ?? 0) + bytes;
      if (this.held + bytes > this.maxBytes || ofCaller > this.maxBytes * SHARE_OF_ONE) throw full();
      held += bytes;
      this.held += bytes;
      this.byCaller.set(caller, ofCaller);
    };
    const release = () => {
      const rest = (this.byCaller.get(caller) ?? 0) - held;
      this.held -= held;
      held = 0;
      if (rest > 0) this.byCaller.set(caller, rest);
      else this.byCaller.delete(caller);
    };
    return { add, release };
  }
}

function full(): DomainError {
  return overloaded('REQUEST.TOO_MANY_BODIES', 'The server has no room for another request body at the moment.');
}
