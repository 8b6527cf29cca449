import type { IncomingHttpHeaders } from 'node:http';
import { DomainError } from '../kernel/errors/domain-error';
import type { ByteRange } from '../kernel/files/content';

/** `bytes=first-last`, `bytes=first-` or `bytes=-length`, by RFC 9110. */
const RANGE = /^bytes=(\d{0,15})-(\d{0,15})$/;

/**
 * Returns the part that a header Range names. Null if it is absent, or one that a server may ignore, such as several parts or other
 * units; then the whole is sent.
 * @throws DomainError 416 if no byte is in the range
 */
export function byteRange(header: string | undefined, size: number): ByteRange | null {
  const [, first = '', last = ''] = RANGE.exec(header ?? '') ?? [];
  if (first === '' && last === '') return null;
  if (first !== '' && last !== '' && Number(last) < Number(first)) return null;
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size : Math.min(size, Number(last) + 1);
  if (start < end) return { start, end, size };
  throw new DomainError(
    'out-of-range',
    'REQUEST.RANGE',
    `There are ${size} bytes, and none in the range ${header}. Name a range that begins before the end.`,
    {
      size,
    },
  );
}

/** Finds the part that the headers of a request name, once the size is known. */
export function rangeOf({ range, 'if-range': ifRange }: IncomingHttpHeaders): (size: number) => ByteRange | null {
  // No answer names a version, so a client that sends If-Range has another one.
  return (size) => (ifRange === undefined ? byteRange(range, size) : null);
}

/** Describes the header Range of an operation that sends a log. */
export const LOG_RANGE = {
  Range: 'One part of the log, such as `bytes=0-1023` or `bytes=-1024`; it applies if the query names no part',
};
