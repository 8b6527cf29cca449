const MIB: Readonly<Record<string, number>> = { k: 1 / 1024, m: 1, g: 1024, t: 1024 ** 2, p: 1024 ** 3 };

/** Returns the MiB of a Spark memory setting such as `512m`, `2g` or `1024` (in MiB); null for any other text. */
export function memoryMb(text: string): number | null {
  const [, digits, unit = 'm'] = /^\s*(\d{1,12})\s*([kmgtp]?)b?\s*$/i.exec(text) ?? [];
  if (digits === undefined) return null;
  return Math.floor(Number(digits) * (MIB[unit.toLowerCase() || 'm'] ?? 1));
}
