/** Parses `KEY=VALUE` entries. Entries without `=` were refused when the cluster was written. */
export function parseEnvironment(entries: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    entries.map((entry) => {
      const at = entry.indexOf('=');
      return [entry.slice(0, at), entry.slice(at + 1)];
    }),
  );
}
