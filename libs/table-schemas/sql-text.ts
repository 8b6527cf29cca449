import { excerpt, TableSchemaError } from './table-schema-error';

const PLAIN_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Spark replaces these with settings and environment variables, even within quotes. */
const VARIABLE = /\$\{\S+?\}/;

/** Quotes a name with backticks. Throws `unsupported` if Spark would replace a variable in it. */
export function quotedName(name: string): string {
  if (name === '' || VARIABLE.test(name)) {
    throw new TableSchemaError('unsupported', `SQL cannot express the name ${excerpt(name)}.`);
  }
  return `\`${name.replaceAll('`', '``')}\``;
}

/** Quotes a name with backticks only if it needs them. */
export function shownName(name: string): string {
  return PLAIN_NAME.test(name) ? name : `\`${name.replaceAll('`', '``')}\``;
}

const ESCAPES: Record<string, string> = { '\\': '\\\\', "'": "\\'", '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/**
 * Returns a string literal, which Spark reads with backslash escapes (`spark.sql.parser.escapedStringLiterals` is false by
 * default). Escapes every character that could end it, and `${`, which Spark would read as a variable.
 */
export function literal(value: string): string {
  // eslint-disable-next-line no-control-regex -- control characters are what is escaped
  const escaped = value.replace(/[\\'\u0000-\u001f\u007f-\u009f\u2028\u2029]|\p{Surrogate}|\$(?=\{)/gu, (found) => {
    return ESCAPES[found] ?? `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
  return `'${escaped}'`;
}

const LINE_END = /[\r\n]/g;

/** Maximum number of open brackets. */
const MAX_OPEN = 10_000;

/**
 * Throws `unsupported` if the text, inserted into a statement, could end it or leave a quote or bracket open.
 * @param subject of the message: `The text of the view`
 */
export function assertOneStatement(text: string, subject: string): void {
  if (!scan(text).isWhole) throw new TableSchemaError('unsupported', `${subject} is not a single SQL statement.`);
}

/** Like {@link assertOneStatement}, for a text in the middle of a statement. */
export function assertExpression(text: string, subject: string): void {
  const { isWhole, hasComments } = scan(text);
  if (!isWhole || hasComments || VARIABLE.test(text) || text.trim() === '') {
    throw new TableSchemaError('unsupported', `${subject} is not a single SQL expression.`);
  }
}

/**
 * Returns the offset after the quoted text that begins at `at`; -1 if it has no end. Backslashes escape within `'` and
 * `"`, a backtick is doubled.
 */
export function quotedEnd(text: string, at: number): number {
  const quote = text[at];
  for (let place = at + 1; place < text.length; place += 1) {
    if (text[place] === '\\' && quote !== '`') place += 1;
    else if (text[place] === quote) {
      if (quote !== '`' || text[place + 1] !== '`') return place + 1;
      place += 1;
    }
  }
  return -1;
}

function scan(text: string): { isWhole: boolean; hasComments: boolean } {
  let hasComments = false;
  let depth = 0;
  for (let at = 0; at < text.length;) {
    const next = tokenEnd(text, at);
    const char = text[at];
    if (char === '(') depth += 1;
    if (char === ')') depth -= 1;
    if (next === -1 || char === ';' || depth < 0 || depth > MAX_OPEN) return { isWhole: false, hasComments };
    if (next > at + 1 && (char === '-' || char === '/')) hasComments = true;
    at = next;
  }
  return { isWhole: depth === 0, hasComments };
}

/** Returns the offset after a quoted text, a comment or a single character; -1 if a quote or comment has no end. */
function tokenEnd(text: string, at: number): number {
  if (`'"\``.includes(text[at]!)) return stringEnd(text, at);
  if (text.startsWith('--', at)) {
    LINE_END.lastIndex = at;
    const end = LINE_END.exec(text)?.index ?? text.length;
    // In Spark, a backslash at the end of the line continues the comment.
    return text[end - 1] === '\\' ? -1 : end;
  }
  if (text.startsWith('*/', at)) return at + 2;
  // The content of a hint, `/*+ … */`, is code.
  if (!text.startsWith('/*', at) || text[at + 2] === '+') return at + 1;
  const end = text.indexOf('*/', at + 2);
  // Spark's comments nest, so a comment within a comment may leave the statement open.
  return end === -1 || text.slice(at + 2, end).includes('/*') ? -1 : end + 2;
}

/** Like {@link quotedEnd}, but knows raw strings, `r'…'`, in which a backslash escapes nothing. */
function stringEnd(text: string, at: number): number {
  const before = text.slice(Math.max(at - 2, 0), at);
  if (text[at] === '`' || !/(?:^|\W)r$/i.test(before)) return quotedEnd(text, at);
  // Spark versions differ on whether a non-ASCII letter belongs to the name before, so refuse it.
  if (/^\P{ASCII}/u.test(before)) return -1;
  return text.indexOf(text[at]!, at + 1) + 1 || -1;
}
