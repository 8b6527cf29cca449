import { invalid } from '../../kernel/errors/domain-error';

/** Keys of a record that depend on its cloud provider: which are accepted at all and which must have a value. */
export interface AcceptedKeys<K extends string> {
  accepted: readonly K[];
  required: readonly K[];
}

/** Values of the accepted keys: what the request gives, else what the record had. Other keys are left out. */
export function acceptedValues<K extends string, T extends Partial<Record<K, unknown>>>(
  keys: AcceptedKeys<K>,
  given: T,
  before: Partial<Record<K, unknown>> = {},
): Pick<T, K> {
  const entries = keys.accepted.map((key) => [key, given[key] === undefined ? before[key] : given[key]]);
  return Object.fromEntries(entries) as Pick<T, K>;
}

/** What is sent besides the keys that depend on the provider: it is the same for every provider. */
export function otherValues<K extends string, T extends object>(
  byProvider: Readonly<Record<string, AcceptedKeys<K>>>,
  given: T,
): Omit<T, K> {
  const dependent = new Set<string>(Object.values(byProvider).flatMap(({ accepted }) => accepted));
  return Object.fromEntries(Object.entries(given).filter(([key]) => !dependent.has(key))) as Omit<T, K>;
}

/** Throws a 400 that names the required keys without a value. */
export function assertRequiredKeys<K extends string>(
  keys: AcceptedKeys<K>,
  values: Partial<Record<K, unknown>>,
  code: string,
  provider: string,
): void {
  const missing = keys.required.filter((key) => isBlank(values[key]));
  if (missing.length === 0) return;
  throw invalid(`${code}.KEYS_REQUIRED`, `Cloud provider ${provider} needs ${missing.join(', ')}.`, { missing });
}

function isBlank(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
}
