// Readers of parameters in an address, which anybody can write; what is no valid value is left out.

const MAX_TEXT = 256;

export function idParam(value: unknown): number | undefined {
  return /^\d{1,15}$/.test(String(value)) ? Number(value) : undefined;
}

export function textParam(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' && value.length <= MAX_TEXT ? value : undefined;
}

export function choiceParam<V extends string>(values: readonly V[], value: unknown): V | undefined {
  return values.find((one) => one === value);
}

/** A day such as `2026-11-28`. Years before 2000 are those of a date that somebody is still typing. */
export function dayParam(value: unknown): string | undefined {
  const day = typeof value === 'string' && /^2\d{3}-\d{2}-\d{2}$/.test(value) ? new Date(value) : null;
  return day !== null && !Number.isNaN(day.getTime()) && day.toISOString().startsWith(String(value))
    ? String(value)
    : undefined;
}

/** The number of a page after the first one, which needs no parameter. */
export function pageParam(value: unknown): number | undefined {
  const page = idParam(value);
  return page !== undefined && page > 1 ? page : undefined;
}

/** An absent filter is no part of the address. */
export function withoutAbsent<T extends object>(object: T): T {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T;
}
