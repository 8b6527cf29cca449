/**
 * SQL of one jsonb object with the given columns of a table alias, so that a query answers a referenced record whole.
 * `nested` adds members that are SQL expressions themselves.
 */
export function jsonObject(
  alias: string,
  columns: readonly string[],
  nested: Readonly<Record<string, string>> = {},
): string {
  const members = [
    ...columns.map((column) => `'${column}', ${alias}.${column}`),
    ...Object.entries(nested).map(([key, sql]) => `'${key}', ${sql}`),
  ];
  return `jsonb_build_object(${members.join(', ')})`;
}
