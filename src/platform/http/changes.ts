import { invalid } from '../errors/domain-error';

/** Throws 400 when an update names no field to change; null is a value like others and clears. */
export function assertChanges(body: object): void {
  if (Object.values(body).some((value) => value !== undefined)) return;
  throw invalid('REQUEST.EMPTY_UPDATE', 'At least one field to change is required.');
}
