/** A list of values that the OpenAPI document shows as one schema, after which generated clients name a type. */
export interface NamedEnum {
  name: string;
  values: readonly string[];
  /** Says what the value is, and what each value means whose name does not say it. */
  description: string;
  /** Advice by value, for the values that have some. */
  remedies: Readonly<Record<string, string>>;
}

const named = new Map<string, NamedEnum>();

/**
 * Names a list of values for the document, and returns it. Every field and parameter with this list then refers to the schema,
 * wherever it is declared. Throws an error if the list has another name, or the name another list.
 */
export function nameEnum<const V extends readonly string[]>(
  name: string,
  values: V,
  about: string,
  meanings?: Readonly<Partial<Record<V[number], string>>>,
  remedies?: Readonly<Record<V[number], string | null>>,
): V {
  const known = [...named.values()].find((one) => one.name === name) ?? namedEnum(values);
  if (known && (known.name !== name || keyOf(known.values) !== keyOf(values))) {
    throw new Error(`The values of ${name} and ${known.name} are the same, or the names are: name each list once`);
  }
  const lines = Object.entries(meanings ?? {}).map(([value, meaning]) => `- \`${value}\`: ${String(meaning)}`);
  named.set(keyOf(values), {
    name,
    values,
    description: [about, ...(lines.length > 0 ? ['', ...lines] : [])].join('\n'),
    remedies: Object.fromEntries(
      Object.entries<string | null>(remedies ?? {}).filter((entry): entry is [string, string] => entry[1] !== null),
    ),
  });
  return values;
}

/** Returns what is known of a list of values; undefined if it has no name. */
export function namedEnum(values: readonly unknown[]): NamedEnum | undefined {
  return named.get(keyOf(values));
}

function keyOf(values: readonly unknown[]): string {
  return JSON.stringify(values);
}
