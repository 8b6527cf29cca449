import { invalid } from '../../../../platform/kernel/errors/domain-error';

// Blanks, a quoted part, an escaped character, or plain text; a lone quote matches none of them. A shell knows only these blanks,
// and Windows ends lines with \r\n.
const TOKEN = /[ \t\r\n]+|'[^']*'|"(?:\\[^]|[^"\\])*"|\\(?:\r\n|[^])|\\$|[^ \t\r\n'"\\]+/y;

/** The characters that a backslash escapes in double quotes (POSIX, XCU 2.2.3); before any other the backslash is literal. */
const ESCAPED_IN_QUOTES = /\\(\r?\n|[$`"\\])/g;
const CONTINUATION = /^\\\r?\n$/;

/**
 * Splits an argument line like a POSIX shell, but without expansions. Blanks separate words, quotes group them, and a backslash
 * escapes the next character or continues the line. In single quotes a backslash is literal; in double quotes it escapes only the
 * few characters that are special there.
 */
export function splitArguments(line: string): string[] {
  const result: string[] = [];
  let current: string | null = null;
  for (let position = 0; position < line.length;) {
    TOKEN.lastIndex = position;
    const token = TOKEN.exec(line)?.[0];
    if (token === undefined) {
      throw invalid(
        'JOB_CONF.INVALID_ARGUMENTS',
        `The arguments contain an unclosed ${line.charAt(position)}. Close the quote, or escape it with a backslash.`,
      );
    }
    position += token.length;
    if (/^[ \t\r\n]/.test(token)) {
      if (current !== null) result.push(current);
      current = null;
    } else if (!CONTINUATION.test(token)) {
      current = (current ?? '') + literal(token);
    }
  }
  if (current !== null) result.push(current);
  return result;
}

function literal(token: string): string {
  switch (token.charAt(0)) {
    case "'":
      return token.slice(1, -1);
    case '"':
      return token.slice(1, -1).replaceAll(ESCAPED_IN_QUOTES, (_, of: string) => (of.endsWith('\n') ? '' : of));
    case '\\':
      return token.length > 1 ? token.slice(1) : token;
    default:
      return token;
  }
}
