import { invalid } from '../../platform/errors/domain-error';

/**
 * Splits an argument line as a shell would, without expanding anything: blanks separate, single and double quotes
 * hold together, a backslash takes the next character literally (not inside single quotes).
 */
export function splitArguments(line: string): string[] {
  const result: string[] = [];
  let current: string | null = null;
  let quote: '"' | "'" | null = null;
  for (let index = 0; index < line.length; index += 1) {
    const character = line.charAt(index);
    if (character === '\\' && quote !== "'" && index + 1 < line.length) {
      index += 1;
      current = (current ?? '') + line.charAt(index);
    } else if (quote !== null) {
      if (character === quote) quote = null;
      else current = (current ?? '') + character;
    } else if (character === '"' || character === "'") {
      quote = character;
      current ??= '';
    } else if (/\s/.test(character)) {
      if (current !== null) result.push(current);
      current = null;
    } else {
      current = (current ?? '') + character;
    }
  }
  if (quote !== null) throw invalid('JOB_CONF.INVALID_ARGUMENTS', `The arguments have an unclosed ${quote}.`);
  if (current !== null) result.push(current);
  return result;
}
