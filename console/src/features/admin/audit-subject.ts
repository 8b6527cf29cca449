import type { AuditEventRead } from 'managed-spark/types';

/** One of the records that a request named: the kind of it, and its id or name. */
export interface SubjectPart {
  field: string;
  kind: string;
  value: string;
}

/** Returns the records that a request named. The tenant is left out, because all events of the list have the same. */
export function subjectParts(subject: AuditEventRead['subject']): SubjectPart[] {
  return Object.entries(subject)
    .filter(([field]) => field !== 'tenant_id')
    .map(([field, value]) => ({
      field,
      kind: field.replace(/_id$/, '').replaceAll('_', ' '),
      value: typeof value === 'string' ? value : JSON.stringify(value),
    }));
}

/** Returns the records of an event in one line. */
export function subjectText(subject: AuditEventRead['subject']): string {
  return subjectParts(subject)
    .map(({ kind, value }) => `${kind} ${value}`)
    .join(' · ');
}
