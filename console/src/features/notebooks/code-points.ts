// Kernels count characters of Unicode, and JavaScript halves of them.

/** Returns the number of characters before a place of a text. */
export function codePoints(text: string, place: number): number {
  return [...text.slice(0, place)].length;
}

/** Returns the place in a text behind a number of characters. */
export function textLength(text: string, characters: number): number {
  return [...text].slice(0, characters).join('').length;
}
