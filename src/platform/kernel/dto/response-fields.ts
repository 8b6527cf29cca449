import type { AuditColumns, Moment, ValidityColumns } from '../persistence/columns';
import { fieldShapes } from './field-shapes';
import { Field } from './fields';
import { About } from './schemas';

@About('Says what was done.')
export class Message {
  @Field.text({ description: 'What was done, in one sentence' }) message: string;
}

@About('A user, as a record names its author.')
export class UserRef {
  @Field.id() user_id: number;
  @Field.text() username: string;
}

/** Interval in which a record without an author is valid. */
export class Validity {
  @Field.timestamp() from_date: Date;
  @Field.validityEnd({ nullable: false }) to_date: Date | 'infinity';
}

/** Audit fields in the response to a read. */
export class ReadAudit {
  @Field.object(() => UserRef, { nullable: true }) created_by: UserRef | null;
  @Field.object(() => UserRef, { nullable: true }) modified_by: UserRef | null;
  @Field.timestamp() last_update_date: Date;
  @Field.timestamp() from_date: Date;
  @Field.validityEnd() to_date: Date | 'infinity' | null;
}

/** Audit fields in the response to a write. */
export class WriteAudit {
  @Field.idText({ nullable: true }) created_by_user_id: string | null;
  @Field.idText({ nullable: true }) modified_by_user_id: string | null;
  @Field.timestamp() last_update_date: Date;
  @Field.timestamp() from_date: Date;
  @Field.timestamp({ nullable: true, description: 'When the record ceased to be valid; null while it is valid' })
  to_date: Date | null;
}

/** Names of the users who created and last changed a record. */
export interface AuthorNames {
  created_by_name: string | null;
  modified_by_name: string | null;
}

export function openEnded(toDate: Moment): Date | null {
  return toDate instanceof Date ? toDate : null;
}

export function validity(row: ValidityColumns): Validity {
  return { from_date: row.from_date, to_date: openEnded(row.to_date) ?? 'infinity' };
}

export function readAudit(row: AuditColumns & AuthorNames): ReadAudit {
  return {
    created_by: userRef(row.created_by_user_id, row.created_by_name),
    modified_by: userRef(row.modified_by_user_id, row.modified_by_name),
    last_update_date: row.last_update_date,
    ...validity(row),
  };
}

export function writeAudit(row: AuditColumns): WriteAudit {
  return {
    created_by_user_id: idText(row.created_by_user_id),
    modified_by_user_id: idText(row.modified_by_user_id),
    last_update_date: row.last_update_date,
    from_date: row.from_date,
    to_date: openEnded(row.to_date),
  };
}

function userRef(id: number | null, name: string | null): UserRef | null {
  return id === null || name === null ? null : { user_id: id, username: name };
}

/** Copies the fields of a response class from a row that has them under the same names. */
export function fieldsOf<T extends object>(type: new () => T, row: Readonly<T>): T {
  return Object.fromEntries([...fieldShapes(type).keys()].map((key) => [key, row[key as keyof T]])) as T;
}

/** Converts an id to the decimal string that responses to writes have. */
export function idText(id: number): string;
export function idText(id: number | null): string | null;
export function idText(id: number | null): string | null {
  return id === null ? null : String(id);
}
