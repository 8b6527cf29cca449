import { ApiError } from 'managed-spark/core';

/** Faults of fields by their paths, such as `name` or `spark_config.conf`. */
export type FieldFaults = Readonly<Record<string, string>>;

/** Returns what the API says of each field of a request that it refused. */
export function faultsOfError(error: unknown): FieldFaults {
  const fields: unknown = error instanceof ApiError ? error.details['fields'] : null;
  if (typeof fields !== 'object' || fields === null) return {};
  return Object.fromEntries(
    Object.entries(fields).map(([path, faults]) => [path, Array.isArray(faults) ? faults.join('. ') : String(faults)]),
  );
}

/** Returns what is wrong with a field or with a part of it. */
export function faultAt(faults: FieldFaults, path: string): string | undefined {
  const found = Object.entries(faults).filter(([name]) => name === path || name.startsWith(`${path}.`));
  return found.length > 0 ? found.map(([, text]) => text).join('. ') : undefined;
}
