import { plainText } from './ansi';
import { type LogLine, type LogSearch, type LogSource, LogWindow } from './log-window';

const CHUNK_BYTES = 1024 * 1024;

/** Returns the first byte of the next line with the text, in any letter case; null if there is none. It keeps one chunk in memory. */
export async function findLine(source: LogSource, search: LogSearch): Promise<number | null> {
  if (source.find) return source.find(search);
  const wanted = search.text.toLowerCase();
  const { direction, size, signal, onProgress } = search;
  let at = search.from;
  while (direction === 'forward' ? at < size : at > 0) {
    const begin = direction === 'forward' ? at : Math.max(0, at - CHUNK_BYTES);
    const bytes = await source.read(begin, direction === 'forward' ? CHUNK_BYTES : at - begin, signal);
    if (bytes.length === 0) return null;
    const { lines } = LogWindow.of(bytes, begin, begin === 0 || direction === 'forward');
    const has = ({ text }: { text: string }) => plainText(text).toLowerCase().includes(wanted);
    const found = direction === 'forward' ? lines.find(has) : lines.findLast(has);
    if (found) return found.offset;
    at = direction === 'forward' ? afterChunk(lines, begin + bytes.length, size) : beforeChunk(lines, begin, at);
    onProgress(at);
  }
  return null;
}

/** The last line of a chunk may go on in the next one, which therefore begins with it, unless it is the only one. */
function afterChunk(lines: readonly LogLine[], end: number, size: number): number {
  return end < size && lines.length > 1 ? (lines.at(-1)?.offset ?? end) : end;
}

/** The first line of a chunk may begin in the chunk before, which therefore ends with it, unless it fills the chunk. */
function beforeChunk(lines: readonly LogLine[], begin: number, at: number): number {
  const first = lines[0]?.offset ?? begin;
  return first === at ? begin : first;
}

/** Lines that say what went wrong. */
const FAULT = /\b(?:ERROR|FATAL)\b|^Traceback \(most recent call last\):|^\S*(?:Error|Exception)\b/;

export function isFault(line: string): boolean {
  return FAULT.test(plainText(line));
}
