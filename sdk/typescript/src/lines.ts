/** A longer line is yielded in parts, so that a job that never ends its line cannot fill the memory. */
export const MAX_LINE_LENGTH: number = 1 << 20;

/** Splits a text that arrives in chunks into lines. */
export class Lines {
  // By default, a decoder drops a byte order mark, which may be the first character of a log.
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  #rest = '';

  *feed(piece: Uint8Array): Generator<string> {
    const lines = (this.#rest + this.#decoder.decode(piece, { stream: true })).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) yield withoutReturn(line);
    while (this.#rest.length > MAX_LINE_LENGTH) {
      const part = this.#rest.slice(0, MAX_LINE_LENGTH);
      this.#rest = this.#rest.slice(MAX_LINE_LENGTH);
      yield part;
    }
  }

  /** Yields the rest of the text at its end. */
  *end(): Generator<string> {
    const rest = this.#rest + this.#decoder.decode();
    this.#rest = '';
    if (rest !== '') yield withoutReturn(rest);
  }
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}
