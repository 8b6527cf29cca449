/** A word of an options string: its plain characters, escaped characters and quoted parts. */
const WORD = /(?:[^\s'"\\]|\\[^]|'[^']*'|"(?:[^"\\]|\\[^])*")+/g;
const PART = /\\([^])|'([^']*)'|"((?:[^"\\]|\\[^])*)"/g;

/**
 * Returns the words of an options string such as SPARK_DAEMON_JAVA_OPTS, divided as Spark's launcher divides them: at white space, with
 * quotes and backslashes as in a shell, but without expansions. Returns null if a quote is not closed or nothing follows a backslash.
 */
export function optionWords(text: string): string[] | null {
  if (text.replace(WORD, '').trim() !== '') return null;
  return (text.match(WORD) ?? []).map((word) =>
    word.replace(PART, (_part, escaped?: string, single?: string, double?: string) =>
      double === undefined ? (escaped ?? single ?? '') : double.replace(/\\([^])/g, '$1'),
    ),
  );
}
