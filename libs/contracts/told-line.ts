/** Longest words of a machine, or of a process on one, that are kept and shown; characters. */
export const MAX_TOLD = 1_000;

// Also what ends a line elsewhere, and what has the text around it shown in another order.
const UNSHOWN = /[\s\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]+/gu;
const GAP = ' … ';

/**
 * Makes one line of what a machine, or a process on one, says. Of a longer text it keeps the beginning, which says what
 * failed, and the end, which says why.
 */
export function toldLine(text: string, maxLength: number = MAX_TOLD): string {
  // The text may be of any length, so only its two ends are looked at.
  const most = 4 * maxLength;
  const some = text.length <= 2 * most ? text : `${text.slice(0, most)}${text.slice(-most)}`;
  const line = some.replaceAll(UNSHOWN, ' ').trim();
  if (line.length <= maxLength) return line.toWellFormed();
  const half = (maxLength - GAP.length) / 2;
  return `${line.slice(0, Math.ceil(half)).trimEnd()}${GAP}${line.slice(-Math.floor(half)).trimStart()}`.toWellFormed();
}
