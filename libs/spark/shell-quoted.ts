/** Returns a text as one word of a shell's command, without expansions. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
