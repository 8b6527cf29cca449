import { invalid } from '../kernel/errors/domain-error';

/** Throws 400 if an update names no field to change; null counts as a value and clears the field. */
export function assertChanges(body: object): void {
  if (Object.values(body).some((value) => value !== undefined)) return;
  throw invalid('REQUEST.EMPTY_UPDATE', 'At least one field to change is required.');
}
