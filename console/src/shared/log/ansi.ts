/** A piece of a line in one style. */
export interface Span {
  text: string;
  /** Names of classes: `bold`, `dim`, `underline`, and one of `red` to `white` with or without `bright-`. */
  styles: readonly string[];
}

const COLOURS = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];
const MARKS: Readonly<Record<number, string>> = { 1: 'bold', 2: 'dim', 3: 'italic', 4: 'underline' };

/** Sequences that terminals obey. Only those that end with `m` set a style; the others are left out. */
// eslint-disable-next-line no-control-regex -- they begin with a control character
const SEQUENCE = /\u001b\[([\d;]*)([A-Za-z])|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)/g;

/** Returns the pieces of a line by the styles that its escape sequences (ECMA-48) set. Styles end with the line. */
export function spansOf(line: string): Span[] {
  if (!line.includes('\u001b')) return [{ text: line, styles: [] }];
  const spans: Span[] = [];
  let styles: readonly string[] = [];
  let from = 0;
  for (const { 0: sequence, 1: codes = '', 2: kind, index } of line.matchAll(SEQUENCE)) {
    if (index > from) spans.push({ text: line.slice(from, index), styles });
    if (kind === 'm') styles = stylesAfter(styles, codes);
    from = index + sequence.length;
  }
  if (from < line.length) spans.push({ text: line.slice(from), styles });
  return spans;
}

/** Returns a line without its escape sequences. */
export function plainText(line: string): string {
  return line.includes('\u001b') ? line.replace(SEQUENCE, '') : line;
}

function stylesAfter(before: readonly string[], codes: string): readonly string[] {
  let styles = before;
  for (const code of (codes === '' ? '0' : codes).split(';').map(Number)) {
    const mark = MARKS[code];
    const colour = colourOf(code);
    if (code === 0) styles = [];
    else if (mark !== undefined) styles = [...styles, mark];
    else if (code === 39) styles = withoutColour(styles);
    else if (colour !== null) styles = [...withoutColour(styles), colour];
    // Longer codes name colours of larger palettes, whose parts would be read as other codes.
    else if (code === 38 || code === 48) return styles;
  }
  return styles;
}

function colourOf(code: number): string | null {
  if (code >= 30 && code <= 37) return COLOURS[code - 30] ?? null;
  return code >= 90 && code <= 97 ? `bright-${COLOURS[code - 90]}` : null;
}

function withoutColour(styles: readonly string[]): readonly string[] {
  return styles.filter((style) => !COLOURS.includes(style.replace('bright-', '')));
}
