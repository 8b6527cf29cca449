import { invalid } from '../../kernel/errors/domain-error';

/** Keys of a record that depend on its cloud provider: the accepted ones, and those that must have a value. */
export interface AcceptedKeys<K extends string> {
  accepted: readonly K[];
  required: readonly K[];
}

/** Returns the values of the accepted keys: those of the request, else those of the record. Other keys are left out. */
export function acceptedValues<K extends string, T extends Partial<Record<K, unknown>>>(
  keys: AcceptedKeys<K>,
  request: T,
  record: Partial<Record<K, unknown>> = {},
): Pick<T, K> {
  const entries = keys.accepted.map((key) => [key, request[key] === undefined ? record[key] : request[key]]);
  return Object.fromEntries(entries) as Pick<T, K>;
}

/** Returns the values of the request whose keys do not depend on the provider. */
export function otherValues<K extends string, T extends object>(
  byProvider: Readonly<Record<string, AcceptedKeys<K>>>,
  request: T,
): Omit<T, K> {
  const dependent = new Set<string>(Object.values(byProvider).flatMap(({ accepted }) => accepted));
  return Object.fromEntries(Object.entries(request).filter(([key]) => !dependent.has(key))) as Omit<T, K>;
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
  throw invalid(`${code}.KEYS_REQUIRED`, `The cloud provider ${provider} requires ${missing.join(', ')}.`, { missing });
}

function isBlank(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
}
