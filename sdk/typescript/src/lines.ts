/** A longer line is given in parts, so that a job that never ends its line cannot fill the memory. */
export const MAX_LINE: number = 1 << 20;

/** Makes lines of a text that arrives in pieces. */
export class Lines {
  // The first character of a log may be the mark that a decoder leaves out by default.
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  #rest = '';

  *feed(piece: Uint8Array): Generator<string> {
    const lines = (this.#rest + this.#decoder.decode(piece, { stream: true })).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) yield withoutReturn(line);
    while (this.#rest.length > MAX_LINE) {
      const part = this.#rest.slice(0, MAX_LINE);
      this.#rest = this.#rest.slice(MAX_LINE);
      yield part;
    }
  }

  /** Yields what is left when the text has ended. */
  *end(): Generator<string> {
    const rest = this.#rest + this.#decoder.decode();
    this.#rest = '';
    if (rest !== '') yield withoutReturn(rest);
  }
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}
