/** A request of the API, as the console sends it. */
export interface Call {
  operation: { readonly name: string; readonly path: string };
  path?: Readonly<Record<string, string | number>>;
  query?: object;
}

/** Returns the request as a command of curl. The token stays out of it, and is read from a variable. */
export function curlOf(server: string, { operation, path = {}, query = {} }: Call): string {
  const filled = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(path[name] ?? ''));
  const pairs = entriesOf(query).flatMap(([name, value]) => [value].flat().map((one) => [name, String(one)]));
  const text = new URLSearchParams(pairs).toString();
  const url = `${server}${filled}${text === '' ? '' : `?${text}`}`.replaceAll("'", '%27');
  return `curl -fsS '${url}' -H "Authorization: Bearer $TOKEN"`;
}

/** Returns the request as a program with the Python SDK, which has each operation under its name in snake case. */
export function pythonOf({ operation, path, query = {} }: Call): string {
  const name = operation.name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, '_').toLowerCase();
  const given = Object.fromEntries(entriesOf(query));
  const parts = [
    `operations.${name}`,
    ...(path ? [literal(path)] : []),
    ...(Object.keys(given).length > 0 ? [`query=${literal(given)}`] : []),
  ];
  return `from managed_spark import Client, operations

with Client() as client:
    print(client.call(${parts.join(', ')}))
`;
}

function entriesOf(query: object): [string, unknown][] {
  return Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
}

/** Texts, numbers and lists are written as in JSON. */
function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value === 'object' && value !== null)
    return `{${Object.entries(value)
      .map(([name, one]) => `${JSON.stringify(name)}: ${literal(one)}`)
      .join(', ')}}`;
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return JSON.stringify(value);
}
