/**
 * The one place that knows the product's configured name. Inside, values say PLATFORM; on the wire they carry the
 * configured name: `PLATFORM` ⇄ `<NAME>`, `PLATFORM_FUNCTIONS` ⇄ `<NAME>_FUNCTIONS`, `platform_functions_*` ⇄ `<name>_functions_*`.
 */
const INTERNAL = 'PLATFORM';
let configured = INTERNAL;

/** Set once, when the process has read its configuration. */
export function setProductName(name: string): void {
  configured = name;
}

export function productName(): string {
  return configured;
}

const INTERNAL_KEY = `${INTERNAL.toLowerCase()}_functions_`;

/** An enumerated value as clients see it. */
export function toWire(value: string): string {
  if (value === INTERNAL) return configured;
  return value.startsWith(`${INTERNAL}_`) ? `${configured}${value.slice(INTERNAL.length)}` : value;
}

/** An enumerated value as the code knows it. */
export function fromWire(value: string): string {
  if (value.toUpperCase() === configured.toUpperCase()) return INTERNAL;
  const prefix = `${configured}_`;
  return value.toUpperCase().startsWith(prefix.toUpperCase()) ? `${INTERNAL}_${value.slice(prefix.length)}` : value;
}

/** Renames the functions fields of a request body, one level deep. */
export function keysFromWire(body: Record<string, unknown>): Record<string, unknown> {
  const wireKey = `${configured.toLowerCase()}_functions_`;
  return wireKey === INTERNAL_KEY ? body : renameKeys(body, wireKey, INTERNAL_KEY);
}

/** Renames the functions fields of an answer, one level deep. */
export function keysToWire<T extends object>(body: T): T {
  const wireKey = `${configured.toLowerCase()}_functions_`;
  return wireKey === INTERNAL_KEY ? body : (renameKeys(body as Record<string, unknown>, INTERNAL_KEY, wireKey) as T);
}

function renameKeys(body: Record<string, unknown>, from: string, to: string): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(body).map(([key, value]) => [key.startsWith(from) ? to + key.slice(from.length) : key, value]),
  );
}
