const MIB: Readonly<Record<string, number>> = { k: 1 / 1024, m: 1, g: 1024, t: 1024 ** 2, p: 1024 ** 3 };

/** Returns the MiB of a Spark memory setting such as `512m`, `2g` or `1024` (in MiB); null for any other text. */
export function memoryMb(text: string): number | null {
  const [, digits, unit = 'm'] = /^\s*(\d{1,12})\s*([kmgtp]?)b?\s*$/i.exec(text) ?? [];
  if (digits === undefined) return null;
  return Math.floor(Number(digits) * (MIB[unit.toLowerCase() || 'm'] ?? 1));
}

/** Returns the MiB of a driver's heap, which the JVM reads: without a unit it is in bytes. Null for a text that is no size. */
export function heapMb(text: string): number | null {
  const bytes = /^\s*(\d{1,15})b?\s*$/i.exec(text)?.[1];
  return bytes === undefined ? memoryMb(text) : Math.floor(Number(bytes) / 2 ** 20);
}

/**
 * Matches a memory size as Spark's `JavaUtils` reads it, and as validators of other languages can read the pattern. Spark takes a heap
 * without a unit for bytes in some places and for MiB in others, so a unit is required.
 */
export const MEMORY_FORM = /^0*[1-9][0-9]{0,14}([bB]|[kKmMgGtTpP][bB]?)$/;
/** Describes {@link MEMORY_FORM}: `must be …`. */
export const MEMORY_MEANING =
  'a whole number greater than 0 with a unit (b, k, kb, m, mb, g, gb, t, tb, p or pb), such as 512m or 2g';

/** Returns a heap as the JVM reads it, which knows neither `2gb` nor petabytes. Any other text stays as it is. */
export function javaHeap(text: string): string {
  const [, digits = '', unit = ''] = /^([0-9]{1,15})(b|[kmgt]b|pb?)$/i.exec(text) ?? [];
  if (unit === '') return text;
  const letter = unit.charAt(0).toLowerCase();
  if (letter === 'b') return digits;
  return letter === 'p' ? `${BigInt(digits) * 1024n}t` : `${digits}${letter}`;
}
