/** One piece of raw Scala that the interpreter takes at once, with the line (from 1) where it starts. */
export interface ScalaChunk {
  line: number;
  code: string;
}

interface Statement extends ScalaChunk {
  definition: boolean;
}

/** Last words of a line after which Scala reads on. */
const OPEN_ENDED = new Set(
  'abstract case catch class def do else extends final finally for forSome if implicit import lazy match new object override package private protected return sealed throw trait try type val var while with yield'.split(
    ' ',
  ),
);
/** First words of a line that continue the one before. */
const CONTINUES = new Set(['catch', 'else', 'extends', 'finally', 'forSome', 'match', 'with', 'yield']);
const MODIFIERS = 'abstract|case|final|implicit|lazy|override|private(?:\\[\\w+\\])?|protected(?:\\[\\w+\\])?|sealed';
const DEFINITION = new RegExp(
  `^(?:@[\\w.]+(?:\\([^)]*\\))?\\s*)*(?:(?:${MODIFIERS})\\s+)*(?:class|trait|object|def|type|import)\\b`,
);

/**
 * Cuts raw Scala into what the interpreter takes one after the other. Each value or expression stands alone, as if
 * typed into spark-shell: Spark can only encode a class that an earlier input defined, and closures then carry no
 * more than they use. Neighbouring definitions stay together, so that companions and sealed families compile.
 */
export function splitScala(source: string): ScalaChunk[] {
  const chunks: ScalaChunk[] = [];
  let previousDefines = false;
  for (const { definition, line, code } of statements(source.replace(/\r\n?/g, '\n'))) {
    const last = chunks[chunks.length - 1];
    if (definition && previousDefines && last) last.code += `\n${code}`;
    else chunks.push({ line, code });
    previousDefines = definition;
  }
  return chunks;
}

function statements(source: string): Statement[] {
  const found: Statement[] = [];
  const depth: string[] = [];
  let start = 0;
  /** Code of the statement so far without comments and with empty literals: enough to tell how it ends. */
  let bare = '';
  let index = 0;

  const close = (end: number): void => {
    const raw = source.slice(start, end);
    const leading = raw.length - raw.trimStart().length;
    const text = bare.trim();
    if (text !== '') {
      const line = source.slice(0, start + leading).split('\n').length;
      found.push({ line, code: raw.trim(), definition: DEFINITION.test(text) });
    }
    start = end;
    bare = '';
  };

  while (index < source.length) {
    const char = source[index] ?? '';
    const skipped = skipComment(source, index) ?? skipLiteral(source, index);
    if (skipped !== null) {
      if (!source.startsWith('//', index) && !source.startsWith('/*', index)) bare += '""';
      index = skipped;
      continue;
    }
    if ('([{'.includes(char)) depth.push(char);
    else if (')]}'.includes(char)) depth.pop();
    if (depth.length === 0 && (char === ';' || (char === '\n' && ends(bare, source, index + 1)))) {
      close(index);
      start = ++index;
      continue;
    }
    bare += char;
    index++;
  }
  close(source.length);
  return found;
}

/** Whether a line break after `bare`, with the rest of `source` from `next`, ends the statement. */
function ends(bare: string, source: string, next: number): boolean {
  const text = bare.trim();
  if (text === '') return true;
  if (isOpenEnded(text)) return false;
  let at = next;
  for (;;) {
    while (/\s/.test(source[at] ?? '')) at++;
    const skipped = skipComment(source, at);
    if (skipped === null) break;
    at = skipped;
  }
  const follows = source.slice(at, at + 12);
  if (/^(?:[.,)\]}]|=[^=]|=>)/.test(follows)) return false;
  // The body of a class or object may stand on the line after its head.
  if (follows.startsWith('{') && DEFINITION.test(text)) return false;
  const word = /^[a-zA-Z]+(?![\w$])/.exec(follows)?.[0];
  return word === undefined || !CONTINUES.has(word);
}

/** Whether a statement cannot end with `text`: an annotation, an operator, a keyword or a condition without body. */
function isOpenEnded(text: string): boolean {
  if (/^(?:@[\w.]+(?:\([^)]*\))?\s*)+$/.test(text)) return true;
  if (/[,.=:|&^%*/+\-<>!~?#@\\]$/.test(text)) return true;
  const lastWord = /[\w$]+$/.exec(text)?.[0];
  if (lastWord !== undefined && OPEN_ENDED.has(lastWord)) return true;
  return /^(?:while|if|for)\s*\([^]*\)$/.test(text) && closesAtEnd(text);
}

/** Whether the parenthesis opened first in `text` is the one its last character closes: a condition without body yet. */
function closesAtEnd(text: string): boolean {
  let open = 0;
  for (let at = text.indexOf('('); at < text.length; at++) {
    if (text[at] === '(') open++;
    else if (text[at] === ')' && --open === 0) return at === text.length - 1;
  }
  return false;
}

function skipComment(source: string, at: number): number | null {
  if (source.startsWith('//', at)) {
    const end = source.indexOf('\n', at);
    return end < 0 ? source.length : end;
  }
  if (!source.startsWith('/*', at)) return null;
  let open = 1;
  let index = at + 2;
  while (index < source.length && open > 0) {
    if (source.startsWith('/*', index)) open++;
    else if (source.startsWith('*/', index)) open--;
    else {
      index++;
      continue;
    }
    index += 2;
  }
  return index;
}

/** End of the string, character or quoted name that starts at `at`; null when none does. */
function skipLiteral(source: string, at: number): number | null {
  const char = source[at];
  if (char === '"') {
    const interpolated = /[\w$]/.test(source[at - 1] ?? '');
    return source.startsWith('"""', at)
      ? skipString(source, at + 3, '"""', interpolated)
      : skipString(source, at + 1, '"', interpolated);
  }
  if (char === "'") {
    const literal = /^'(?:\\u[0-9a-fA-F]{4}|\\.|[^\\\n])'/.exec(source.slice(at, at + 10));
    return literal ? at + literal[0].length : null;
  }
  if (char === '`') {
    const end = source.indexOf('`', at + 1);
    return end < 0 ? null : end + 1;
  }
  return null;
}

function skipString(source: string, from: number, quote: '"' | '"""', interpolated: boolean): number {
  let at = from;
  while (at < source.length) {
    const char = source[at];
    if (source.startsWith(quote, at)) {
      at += quote.length;
      // `""""` ends a triple-quoted string whose last character is a quote.
      while (quote === '"""' && source[at] === '"') at++;
      return at;
    }
    if (quote === '"' && char === '\n') return at;
    if (quote === '"' && char === '\\') at += 2;
    else if (interpolated && source.startsWith('${', at)) at = skipBlock(source, at + 2);
    else at++;
  }
  return source.length;
}

function skipBlock(source: string, from: number): number {
  let open = 1;
  let at = from;
  while (at < source.length) {
    const skipped = skipComment(source, at) ?? skipLiteral(source, at);
    if (skipped !== null) {
      at = skipped;
      continue;
    }
    if (source[at] === '{') open++;
    else if (source[at] === '}' && --open === 0) return at + 1;
    at++;
  }
  return at;
}
