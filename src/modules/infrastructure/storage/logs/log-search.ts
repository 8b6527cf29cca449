/** A line that has the text. */
export interface LogMatch {
  /** Number of the first byte of the line in the log; of a part of a line that is longer than 8 KiB. */
  offset: number;
  /** The line without colours, cut if it is long. */
  line: string;
}

export interface LogSearchRequest {
  text: string;
  direction: 'forward' | 'backward';
  /** The search begins at this byte, or before it; null for the beginning, or the end. */
  from: number | null;
  limit: number;
}

export interface LogSearchResult {
  matches: LogMatch[];
  /** The byte at which another search goes on; null if there is nothing left to search. */
  next: number | null;
}

/** A log of a fixed size. */
export interface SearchedLog {
  size: number;
  read: (offset: number, length: number) => Promise<Buffer>;
}

/** Limits of the cost of a search. */
export interface SearchBounds {
  maxBytes: number;
  /** Returns true when the time is over, or nobody waits for the result. */
  isOver: () => boolean;
}

const WINDOW_BYTES = 512 * 1024;
/** Longer lines are searched in parts, so that one without an end costs no more than others. */
const MAX_PART_BYTES = 8 * 1024;
const MAX_LINE_LENGTH = 1_000;
const NEWLINE = 0x0a;

// oxlint-disable-next-line no-control-regex -- escape sequences begin with a control character
const ESCAPES = /\u001b\[[0-9;?]*[ -/]*[@-~]/g;

/** Bytes of a log whose first line is whole. */
interface Window {
  bytes: Buffer;
  offset: number;
}

/**
 * Looks for lines with the text in any letter case, and in the colours of a terminal. The text is no pattern, so its author
 * cannot make it slow. It reads windows of a fixed size, and stops between two of them when a bound is reached.
 */
export async function searchLog(
  log: SearchedLog,
  request: LogSearchRequest,
  bounds: SearchBounds,
): Promise<LogSearchResult> {
  const isForward = request.direction === 'forward';
  const wanted = request.text.toLowerCase();
  const matches: LogMatch[] = [];
  const overlap = Buffer.byteLength(request.text) - 1;
  let at = Math.min(request.from ?? (isForward ? 0 : log.size), log.size);
  for (let read = 0; isForward ? at < log.size : at > 0;) {
    if (read >= bounds.maxBytes || (read > 0 && bounds.isOver())) return { matches, next: at };
    const begin = isForward ? at : Math.max(0, at - WINDOW_BYTES);
    const end = isForward ? Math.min(log.size, at + WINDOW_BYTES) : at;
    const bytes = await log.read(begin, end - begin);
    // A log whose retention is over has lost its bytes.
    if (bytes.length === 0) break;
    read += bytes.length;
    const { window, next } = isForward
      ? forwardWindow(bytes, begin, log.size, overlap)
      : backwardWindow(bytes, begin, overlap);
    for (const match of orderedMatches(window, { wanted, overlap, isForward })) {
      if (matches.length === request.limit) return { matches, next: isForward ? match.offset : match.end };
      matches.push({ offset: match.offset, line: match.line });
    }
    at = next;
  }
  return { matches, next: null };
}

/** The last line may go on in the next window, which therefore begins with it, unless it fills this one. */
function forwardWindow(bytes: Buffer, begin: number, size: number, overlap: number): { window: Window; next: number } {
  const end = begin + bytes.length;
  const whole = bytes.lastIndexOf(NEWLINE) + 1;
  if (end >= size) return { window: { bytes, offset: begin }, next: end };
  if (whole > 0) return { window: { bytes: bytes.subarray(0, whole), offset: begin }, next: begin + whole };
  return { window: { bytes, offset: begin }, next: Math.max(begin + 1, end - overlap) };
}

/** The first line may begin in the window before, which therefore ends with it, unless it fills this one. */
function backwardWindow(bytes: Buffer, begin: number, overlap: number): { window: Window; next: number } {
  const first = begin === 0 ? 0 : bytes.indexOf(NEWLINE) + 1;
  if (begin === 0 || (first > 0 && first < bytes.length)) {
    return { window: { bytes: bytes.subarray(first), offset: begin + first }, next: begin + first };
  }
  return { window: { bytes, offset: begin }, next: Math.min(begin + overlap, begin + bytes.length - 1) };
}

interface Wanted {
  wanted: string;
  overlap: number;
  isForward: boolean;
}

function orderedMatches(window: Window, { wanted, overlap, isForward }: Wanted): (LogMatch & { end: number })[] {
  // Most windows have no match, and are not taken apart.
  if (!folded(plain(window.bytes)).includes(wanted)) return [];
  const found: (LogMatch & { end: number })[] = [];
  for (const { begin, end } of partsOf(window.bytes, overlap)) {
    const text = plain(window.bytes.subarray(begin, end));
    const place = folded(text).indexOf(wanted);
    if (place === -1) continue;
    found.push({ offset: window.offset + begin, end: window.offset + end, line: excerpt(text, place) });
  }
  return isForward ? found : found.reverse();
}

/** Yields the lines, and long ones in parts that overlap by so much that none cuts the text. */
function* partsOf(bytes: Buffer, overlap: number): Generator<{ begin: number; end: number }> {
  for (let begin = 0; begin < bytes.length;) {
    const newline = bytes.indexOf(NEWLINE, begin);
    const lineEnd = newline === -1 ? bytes.length : newline;
    const end = Math.min(lineEnd, begin + MAX_PART_BYTES);
    yield { begin, end };
    begin = end === lineEnd ? end + 1 : end - overlap;
  }
}

function plain(bytes: Buffer): string {
  const text = bytes.toString();
  return text.includes('\u001b') ? text.replaceAll(ESCAPES, '') : text;
}

function folded(text: string): string {
  return text.toLowerCase();
}

/** Cuts a long line so that the text stays in it. */
function excerpt(text: string, place: number): string {
  const from = Math.max(0, Math.min(place - MAX_LINE_LENGTH / 4, text.length - MAX_LINE_LENGTH));
  return text.slice(from, from + MAX_LINE_LENGTH).replace(/\r$/, '');
}
