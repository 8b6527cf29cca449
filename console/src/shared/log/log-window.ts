/** A log that can be read from any byte. */
export interface LogSource {
  /** Returns the number of bytes that the log has now. */
  size: (signal: AbortSignal) => Promise<number>;
  read: (offset: number, length: number, signal: AbortSignal) => Promise<Uint8Array>;
  /** Yields the bytes behind the offset as they are written, until the log has ended. */
  follow: (offset: number, signal: AbortSignal) => AsyncIterable<Uint8Array>;
  /** Searches on the server; without it, the page reads the log to search it. */
  find?: (search: LogSearch) => Promise<number | null>;
}

/** The next line with a text, in any letter case. */
export interface LogSearch {
  text: string;
  /** The search begins behind this byte, or before it. */
  from: number;
  direction: 'forward' | 'backward';
  size: number;
  signal: AbortSignal;
  /** Called with the byte that the search has reached. */
  onProgress: (offset: number) => void;
}

export interface LogLine {
  /** Number of the line's first byte in the log. */
  offset: number;
  text: string;
}

const NEWLINE = 10;
const CARRIAGE_RETURN = 13;
/** A line is cut here, so that one without an end cannot fill the memory of the page. */
const MAX_LINE_BYTES = 8 * 1024;

/**
 * Lines of a part of a log. Its size has a bound: what is added at one end makes the other lose lines. The last line may be
 * unfinished; its bytes are kept, because the next ones may belong to the same character.
 */
export class LogWindow {
  readonly lines: readonly LogLine[];

  private constructor(
    private readonly finished: readonly LogLine[],
    /** Bytes of the unfinished last line. */
    private readonly rest: Uint8Array,
    /** The first byte. */
    readonly start: number,
    /** The byte behind the last one. */
    readonly end: number,
  ) {
    this.lines = rest.length === 0 ? finished : [...finished, lineOf(rest, end - rest.length)];
  }

  static emptyAt(offset: number): LogWindow {
    return new LogWindow([], new Uint8Array(), offset, offset);
  }

  /**
   * Returns the window of the bytes from an offset on.
   * @param isWhole true if a line begins at the offset; else the first line is left out, because its beginning is missing
   */
  static of(bytes: Uint8Array, offset: number, isWhole: boolean): LogWindow {
    // A line that is longer than the window has no beginning in it.
    const from = isWhole ? 0 : bytes.indexOf(NEWLINE) + 1;
    return LogWindow.emptyAt(offset + from).append(bytes.subarray(from), Infinity);
  }

  /** Returns the window with the bytes behind it. */
  append(bytes: Uint8Array, maxBytes: number): LogWindow {
    if (bytes.length === 0) return this;
    const whole = new Uint8Array(this.rest.length + bytes.length);
    whole.set(this.rest);
    whole.set(bytes, this.rest.length);
    const { lines, rest } = split(whole, this.end - this.rest.length);
    const end = this.end + bytes.length;
    const all = [...this.finished, ...lines];
    const first = end - this.start <= maxBytes ? 0 : all.findIndex(({ offset }) => end - offset <= maxBytes);
    if (first <= 0) return new LogWindow(all, rest, this.start, end);
    return new LogWindow(all.slice(first), rest, all[first]?.offset ?? this.start, end);
  }

  /** Returns the window with the lines of another one, which ends where this one starts. */
  prepend(before: LogWindow, maxBytes: number): LogWindow {
    const all = [...before.lines, ...this.finished];
    const last = all.findLastIndex(({ offset }) => offset - before.start <= maxBytes);
    const next = all[last + 1];
    if (next === undefined) return new LogWindow(all, this.rest, before.start, this.end);
    return new LogWindow(all.slice(0, last + 1), new Uint8Array(), before.start, next.offset);
  }

  /** Returns the index of the line that has the byte; -1 if the window does not have it. */
  indexOf(offset: number): number {
    if (offset < this.start || offset >= this.end) return -1;
    return this.lines.findLastIndex((line) => line.offset <= offset);
  }
}

const decoder = new TextDecoder();

function split(bytes: Uint8Array, offset: number): { lines: LogLine[]; rest: Uint8Array } {
  const lines: LogLine[] = [];
  let from = 0;
  for (;;) {
    const newline = bytes.indexOf(NEWLINE, from);
    const length = (newline === -1 ? bytes.length : newline) - from;
    if (length <= MAX_LINE_BYTES && newline === -1) return { lines, rest: bytes.slice(from) };
    const end = length > MAX_LINE_BYTES ? from + MAX_LINE_BYTES : newline;
    lines.push(lineOf(bytes.subarray(from, end), offset + from));
    from = end === newline ? end + 1 : end;
  }
}

function lineOf(bytes: Uint8Array, offset: number): LogLine {
  const end = bytes.at(-1) === CARRIAGE_RETURN ? -1 : bytes.length;
  return { offset, text: decoder.decode(bytes.subarray(0, end)) };
}
