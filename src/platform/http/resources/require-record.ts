import { invalid } from '../../kernel/errors/domain-error';

/** Returns the record, or throws a 400 that names the id if it is undefined. */
export function requireRecord<T>(record: T | undefined, label: string, id: number): T {
  if (record !== undefined) return record;
  throw invalid(`${label.toUpperCase().replaceAll(' ', '_')}.NOT_FOUND`, `There is no ${label} with id ${id}.`);
}
