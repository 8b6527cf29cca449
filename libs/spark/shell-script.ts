import { withoutByteOrderMark } from '../json/byte-order-mark';

/**
 * Returns a shell script with Unix line ends: to a shell \r is part of a word, and of the interpreter's name. Only a script whose
 * first line ends as on Windows is converted; any other script contains its \r on purpose.
 */
export function shellScript(text: string): string {
  const script = withoutByteOrderMark(text);
  return /^[^\n]*\r\n/.test(script) ? script.replaceAll('\r\n', '\n') : script;
}
