/**
 * Only this file knows the product's configured name. Values in the code have the name PLATFORM, and values on the wire the
 * configured one: `PLATFORM` ⇄ `<NAME>`, `PLATFORM_FUNCTIONS` ⇄ `<NAME>_FUNCTIONS`, `platform_functions_*` ⇄ `<name>_functions_*`.
 */
const INTERNAL = 'PLATFORM';
let configured = INTERNAL;

/** Sets the name; called once, when the process has read its configuration. */
export function setProductName(name: string): void {
  configured = name;
}

export function productName(): string {
  return configured;
}

const INTERNAL_KEY = `${INTERNAL.toLowerCase()}_functions_`;

/** Converts an enumerated value of the code to the wire. */
export function toWire(value: string): string {
  if (value === INTERNAL) return configured;
  return value.startsWith(`${INTERNAL}_`) ? `${configured}${value.slice(INTERNAL.length)}` : value;
}

/** Converts the values and keys of the code that a text names. The names of roles are the same everywhere. */
export function textToWire(text: string): string {
  return text
    .replaceAll(/\bPLATFORM(?:_\w+)?\b(?! (?:ADMIN|BILLING))/g, toWire)
    .replaceAll(/\bplatform_functions_\w+/g, keyToWire);
}

/** Converts an enumerated value of the wire to the code. */
export function fromWire(value: string): string {
  if (value.toUpperCase() === configured.toUpperCase()) return INTERNAL;
  const prefix = `${configured}_`;
  return value.toUpperCase().startsWith(prefix.toUpperCase()) ? `${INTERNAL}_${value.slice(prefix.length)}` : value;
}

/** Converts a key of the code to the wire. */
export function keyToWire(key: string): string {
  return key.startsWith(INTERNAL_KEY) ? wireKey() + key.slice(INTERNAL_KEY.length) : key;
}

/** True if the value has the internal name although the wire has another one. Clients do not know the internal name. */
export function isInternalName(value: string): boolean {
  const text = value.toUpperCase();
  return configured.toUpperCase() !== INTERNAL && (text === INTERNAL || text.startsWith(`${INTERNAL}_`));
}

/** Returns the first key of a request body with the internal name, if the wire has another one. */
export function internalKey(body: Record<string, unknown>): string | undefined {
  return wireKey() === INTERNAL_KEY ? undefined : Object.keys(body).find((key) => key.startsWith(INTERNAL_KEY));
}

/** Renames the functions fields of a request body, one level deep. */
export function keysFromWire(body: Record<string, unknown>): Record<string, unknown> {
  const prefix = wireKey();
  if (prefix === INTERNAL_KEY) return body;
  return renameKeys(body, (key) => (key.startsWith(prefix) ? INTERNAL_KEY + key.slice(prefix.length) : key));
}

/** Renames the functions fields of a response, one level deep. */
export function keysToWire<T extends object>(body: T): T {
  return wireKey() === INTERNAL_KEY ? body : (renameKeys(body as Record<string, unknown>, keyToWire) as T);
}

function wireKey(): string {
  return `${configured.toLowerCase()}_functions_`;
}

function renameKeys(body: Record<string, unknown>, rename: (key: string) => string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(body).map(([key, value]) => [rename(key), value]));
}
