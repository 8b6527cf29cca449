const FLAGS = ['-S', '--silent'];
const WITH_VALUE = ['-d', '--define', '--hivevar', '--hiveconf', '--database'];

/** The arguments that a SQL job accepts, for error messages. */
export const SQL_ARGUMENTS = [...FLAGS, ...WITH_VALUE].join(', ');

/** Returns the first argument that spark-sql does not accept, or that would name another text (`-f`); null if all are acceptable. */
export function foreignSqlArgument(words: readonly string[]): string | null {
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    if (FLAGS.includes(word)) continue;
    const value = words[at + 1];
    if (!WITH_VALUE.includes(word) || value === undefined || value.startsWith('-')) return word;
    at += 1;
  }
  return null;
}
