import { invalid } from '../../../../platform/kernel/errors/domain-error';

// Blanks, a quoted part, an escaped character, or a plain piece; a lone quote matches none of them. A shell's blanks are no others,
// and text of Windows ends its lines with \r\n.
const TOKEN = /[ \t\r\n]+|'[^']*'|"(?:\\[^]|[^"\\])*"|\\(?:\r\n|[^])|\\$|[^ \t\r\n'"\\]+/y;

/** What a backslash escapes between double quotes (POSIX, XCU 2.2.3); any other that follows it leaves the backslash in place. */
const ESCAPED_IN_QUOTES = /\\(\r?\n|[$`"\\])/g;
const CONTINUATION = /^\\\r?\n$/;

/**
 * Splits an argument line as a POSIX shell would, without expanding anything: blanks separate, single and double quotes
 * hold together, a backslash takes the next character literally and continues a line. Single quotes take a backslash as it
 * is, double quotes unless it escapes one of the few characters that mean something between them.
 */
export function splitArguments(line: string): string[] {
  const result: string[] = [];
  let current: string | null = null;
  for (let position = 0; position < line.length;) {
    TOKEN.lastIndex = position;
    const token = TOKEN.exec(line)?.[0];
    if (token === undefined) {
      throw invalid('JOB_CONF.INVALID_ARGUMENTS', `The arguments have an unclosed ${line.charAt(position)}.`);
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

/** What a token that is not blank stands for. */
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
