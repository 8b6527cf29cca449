/** Editors on Windows put it at the beginning of files. It is invisible, and most parsers refuse it. */
const MARK = '\uFEFF';
const MARK_BYTES = Buffer.from(MARK);

/** The text without a byte order mark at its beginning. */
export function withoutByteOrderMark(text: string): string {
  return text.startsWith(MARK) ? text.slice(MARK.length) : text;
}

/** The bytes without a UTF-8 byte order mark at their beginning; not a copy. */
export function behindByteOrderMark(bytes: Buffer): Buffer {
  const { length } = MARK_BYTES;
  return bytes.subarray(0, length).equals(MARK_BYTES) ? bytes.subarray(length) : bytes;
}
