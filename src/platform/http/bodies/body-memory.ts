import { type DomainError, overloaded } from '../../kernel/errors/domain-error';

/** Share of the memory that a single caller may use. */
const MAX_CALLER_SHARE = 0.5;

/** Memory of one request's body, which counts until it is released. */
export interface HeldBytes {
  /** Throws a 503 if there is not enough memory. */
  add(bytes: number): void;
  release(): void;
}

/**
 * Bounds the memory of all bodies in a process. A caller gets at most half of it, so that no single caller blocks the
 * others.
 */
export class BodyMemory {
  private held = 0;
  private readonly byCaller = new Map<string, number>();

  constructor(private readonly maxBytes: number) {}

  hold(caller: string): HeldBytes {
    let held = 0;
    const add = (bytes: number) => {
      const ofCaller = (this.byCaller.get(caller) ?? 0) + bytes;
      if (this.held + bytes > this.maxBytes || ofCaller > this.maxBytes * MAX_CALLER_SHARE) throw full();
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
  return overloaded(
    'REQUEST.TOO_MANY_BODIES',
    'The server has no memory for another request body. Send the request again later.',
  );
}
