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

/** A key as clients see it. */
export function keyToWire(key: string): string {
  return key.startsWith(INTERNAL_KEY) ? wireKey() + key.slice(INTERNAL_KEY.length) : key;
}

/** Whether the value contains the internal name although the wire has another one: it means nothing to clients. */
export function isInternalName(value: string): boolean {
  const text = value.toUpperCase();
  return configured.toUpperCase() !== INTERNAL && (text === INTERNAL || text.startsWith(`${INTERNAL}_`));
}

/** The first key of a request body that has the internal name where the wire has another one; undefined without one. */
export function internalKey(body: Record<string, unknown>): string | undefined {
  return wireKey() === INTERNAL_KEY ? undefined : Object.keys(body).find((key) => key.startsWith(INTERNAL_KEY));
}

/** Renames the functions fields of a request body, one level deep. */
export function keysFromWire(body: Record<string, unknown>): Record<string, unknown> {
  const prefix = wireKey();
  if (prefix === INTERNAL_KEY) return body;
  return renameKeys(body, (key) => (key.startsWith(prefix) ? INTERNAL_KEY + key.slice(prefix.length) : key));
}

/** Renames the functions fields of an answer, one level deep. */
export function keysToWire<T extends object>(body: T): T {
  return wireKey() === INTERNAL_KEY ? body : (renameKeys(body as Record<string, unknown>, keyToWire) as T);
}

function wireKey(): string {
  return `${configured.toLowerCase()}_functions_`;
}

function renameKeys(body: Record<string, unknown>, rename: (key: string) => string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(body).map(([key, value]) => [rename(key), value]));
}
