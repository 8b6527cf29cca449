/** A statement in a text of several, without the comments before it. */
export interface SqlPart {
  text: string;
  /** Its first character in the whole text. */
  from: number;
}

/**
 * Splits a text at the semicolons between statements, by the rules of Spark's lexer (SqlBaseLexer.g4): strings with
 * backslashes, raw strings, doubled quotes, names in backticks, and comments in comments. Blocks of BEGIN and END are not known.
 */
export function splitSql(text: string): SqlPart[] {
  const parts: SqlPart[] = [];
  let from = -1;
  const end = (at: number) => {
    if (from >= 0) parts.push({ text: text.slice(from, at).trimEnd(), from });
    from = -1;
  };
  for (let at = 0; at < text.length;) {
    const next = tokenEnd(text, at);
    if (text[at] === ';') end(at);
    else if (from < 0 && !isSpace(text, at) && !isComment(text, at)) from = at;
    at = next;
  }
  end(text.length);
  return parts;
}

/** Returns the statement at the place of the cursor; the last one before it if there is none. */
export function statementAt(parts: readonly SqlPart[], cursor: number): SqlPart | undefined {
  return parts.findLast(({ from }) => from <= cursor) ?? parts[0];
}

export interface SqlToken {
  kind: 'word' | 'quoted' | 'string' | 'comment' | 'other';
  from: number;
  to: number;
}

/** Returns the words, strings, comments and single other characters of a text, without the space between them. */
export function tokensOf(text: string): SqlToken[] {
  const tokens: SqlToken[] = [];
  for (let at = 0; at < text.length;) {
    const kind = kindOf(text, at);
    let to = kind === 'word' ? wordEnd(text, at) : tokenEnd(text, at);
    // A doubled quote is a character of the name.
    while (kind === 'quoted' && text[to] === '`') to = quotedEnd(text, to + 1, '`');
    if (!isSpace(text, at)) tokens.push({ kind, from: at, to });
    at = to;
  }
  return tokens;
}

function kindOf(text: string, at: number): SqlToken['kind'] {
  const character = text[at] ?? '';
  if (character === '`') return 'quoted';
  if (character === "'" || character === '"' || isRaw(text, at)) return 'string';
  if (isComment(text, at)) return 'comment';
  return WORD_CHARACTER.test(character) ? 'word' : 'other';
}

const WORD_CHARACTER = /[\p{L}\p{N}_]/u;
const WORD = /[\p{L}\p{N}_]+/uy;

function wordEnd(text: string, at: number): number {
  WORD.lastIndex = at;
  return WORD.test(text) ? WORD.lastIndex : at + 1;
}

/** Returns where the token ends that begins here. */
function tokenEnd(text: string, at: number): number {
  const character = text[at] ?? '';
  if (character === "'" || character === '"') return stringEnd(text, at + 1, character);
  if (isRaw(text, at)) return quotedEnd(text, at + 2, text[at + 1] ?? '');
  if (character === '`') return quotedEnd(text, at + 1, character);
  if (text.startsWith('--', at)) return lineEnd(text, at);
  if (isComment(text, at)) return commentEnd(text, at);
  return at + 1;
}

function isSpace(text: string, at: number): boolean {
  return /\s/.test(text[at] ?? '');
}

/** A hint looks like a comment, but is a part of its statement. */
function isComment(text: string, at: number): boolean {
  return text.startsWith('--', at) || (text.startsWith('/*', at) && text[at + 2] !== '+');
}

/** In r'…' a backslash is a character. The r is no end of a longer name. */
function isRaw(text: string, at: number): boolean {
  if (!/^[rR]['"]/.test(text.slice(at, at + 2))) return false;
  return at === 0 || !WORD_CHARACTER.test(text[at - 1] ?? '');
}

function stringEnd(text: string, begin: number, quote: string): number {
  for (let at = begin; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === quote) return at + 1;
  }
  return text.length;
}

/** A doubled quote ends here and begins again, which comes to the same. */
function quotedEnd(text: string, begin: number, quote: string): number {
  const at = text.indexOf(quote, begin);
  return at < 0 ? text.length : at + 1;
}

/** A backslash at the end of a line continues the comment. */
function lineEnd(text: string, begin: number): number {
  for (let at = begin; at < text.length; at += 1) {
    if (text[at] === '\n' && text[at - 1] !== '\\') return at + 1;
  }
  return text.length;
}

function commentEnd(text: string, begin: number): number {
  let depth = 0;
  for (let at = begin; at < text.length; at += 1) {
    if (text.startsWith('/*', at)) depth += 1;
    else if (text.startsWith('*/', at)) depth -= 1;
    else continue;
    at += 1;
    if (depth === 0) return at + 1;
  }
  return text.length;
}
