import { invalid } from '../../kernel/errors/domain-error';

/** The row of a lookup table for an id; throws a 400 that names the id if there is none. */
export function requireRecord<T>(record: T | undefined, label: string, id: number): T {
  if (record !== undefined) return record;
  throw invalid(`${label.toUpperCase().replaceAll(' ', '_')}.NOT_FOUND`, `There is no ${label} with id ${id}.`);
}
