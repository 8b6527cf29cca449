/** Maximum length of a message from a machine or a process on it. */
export const MAX_LINE_LENGTH = 1_000;

// Includes Unicode's line separators, and the controls that reorder the text around them.
const UNPRINTABLE = /[\s\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]+/gu;
const GAP = ' … ';

/**
 * Makes one line of a message from a machine, or from a process on one. If the text is too long, it keeps the beginning, which
 * says what failed, and the end, which says why.
 */
export function singleLine(text: string, maxLength: number = MAX_LINE_LENGTH): string {
  // The text may have any length, so only its two ends are processed.
  const atEachEnd = 4 * maxLength;
  const ends = text.length <= 2 * atEachEnd ? text : `${text.slice(0, atEachEnd)}${text.slice(-atEachEnd)}`;
  const line = ends.replaceAll(UNPRINTABLE, ' ').trim();
  if (line.length <= maxLength) return line.toWellFormed();
  const half = (maxLength - GAP.length) / 2;
  return `${line.slice(0, Math.ceil(half)).trimEnd()}${GAP}${line.slice(-Math.floor(half)).trimStart()}`.toWellFormed();
}
