import { withoutByteOrderMark } from '../json/byte-order-mark';

/**
 * A shell script with the line ends of Unix: to a shell \r is part of a word, and of the interpreter's name. Only one that
 * begins with a line of Windows was written there; others have their \r on purpose.
 */
export function shellScript(text: string): string {
  const script = withoutByteOrderMark(text);
  return /^[^\n]*\r\n/.test(script) ? script.replaceAll('\r\n', '\n') : script;
}
