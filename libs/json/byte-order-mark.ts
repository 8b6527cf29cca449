/** Editors on Windows write it at the beginning of files. It is invisible, and most parsers refuse it. */
const MARK = '\uFEFF';
const MARK_BYTES = Buffer.from(MARK);

export function withoutByteOrderMark(text: string): string {
  return text.startsWith(MARK) ? text.slice(MARK.length) : text;
}

/** Returns the bytes after a UTF-8 byte order mark, without copying them. */
export function behindByteOrderMark(bytes: Buffer): Buffer {
  const { length } = MARK_BYTES;
  return bytes.subarray(0, length).equals(MARK_BYTES) ? bytes.subarray(length) : bytes;
}
