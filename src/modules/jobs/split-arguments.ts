import { invalid } from '../../platform/errors/domain-error';

// Blanks, a quoted part, an escaped character, or a plain piece; a lone quote matches none of them.
const TOKEN = /\s+|'[^']*'|"(?:\\[^]|[^"\\])*"|\\[^]|\\$|[^\s'"\\]+/y;

/**
 * Splits an argument line as a shell would, without expanding anything: blanks separate, single and double quotes
 * hold together, a backslash takes the next character literally (not inside single quotes).
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
    if (/^\s/.test(token)) {
      if (current !== null) result.push(current);
      current = null;
    } else {
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
      return token.slice(1, -1).replaceAll(/\\([^])/g, '$1');
    case '\\':
      return token.length > 1 ? token.slice(1) : token;
    default:
      return token;
  }
}
