import { Column, type ColumnOptions, Index, PrimaryGeneratedColumn } from 'typeorm';

/** Decorators of entity columns. Properties are named like their columns, since the entity is the row (ADR 0014). */
export const Col = {
  identity: (primaryKeyConstraintName?: string) =>
    PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'BY DEFAULT', primaryKeyConstraintName }),
  bigint: (options: ColumnOptions = {}) => Column({ type: 'bigint', ...options }),
  int: (options: ColumnOptions = {}) => Column({ type: 'integer', ...options }),
  float: (options: ColumnOptions = {}) => Column({ type: 'double precision', ...options }),
  /** An exact number, read as a string so that no code calculates with floats. */
  decimal: (options: ColumnOptions = {}) => Column({ type: 'numeric', ...options }),
  text: (options: ColumnOptions = {}) => Column({ type: 'text', ...options }),
  bool: (options: ColumnOptions = {}) => Column({ type: 'boolean', ...options }),
  uuid: (options: ColumnOptions = {}) => Column({ type: 'uuid', ...options }),
  json: (options: ColumnOptions = {}) => Column({ type: 'jsonb', ...options }),
  texts: (options: ColumnOptions = {}) => Column({ type: 'text', array: true, ...options }),
  bytes: (options: ColumnOptions = {}) => Column({ type: 'bytea', ...options }),
  time: (options: ColumnOptions = {}) => Column({ type: 'timestamptz', ...options }),
  /** A calendar day, read as `2026-01-31`. */
  day: (options: ColumnOptions = {}) => Column({ type: 'date', ...options }),
};

/** A point in time as the driver reads it: `infinity` becomes the number Infinity. */
export type Moment = Date | number;

/** Interval in which a record is valid. */
export abstract class ValidityColumns {
  @Col.time({ default: () => 'platform_now()' }) from_date: Date;
  /** Infinity while the record is current. */
  @Col.time({ default: 'infinity' }) to_date: Moment;
}

/** Author and time of the last change of a record, and the interval in which it is valid. */
export abstract class AuditColumns extends ValidityColumns {
  @Col.bigint({ nullable: true }) created_by_user_id: number | null;
  @Col.bigint({ nullable: true }) modified_by_user_id: number | null;
  @Col.time({ default: () => 'platform_now()' }) last_update_date: Date;
}

/** Columns of a tenant's record. Entities add `@Unique(['tenantId', 'id'])` for the composite foreign keys that reference them. */
export abstract class TenantColumns extends AuditColumns {
  @Col.uuid() tenant_id: string;
}

/** Condition of partial indexes over current records. */
export const CURRENT = `to_date = 'infinity'`;

/** Condition of partial indexes over closed records. */
export const CLOSED = `to_date <> 'infinity'`;

/** Returns the condition that a column has one of the values, which must be constants of the code. */
export const oneOf = (column: string, values: readonly string[]) =>
  `${column} IN (${values.map((value) => `'${value}'`).join(', ')})`;

/**
 * Index for a search by part of a name (`Conditions.addContains`, ADR 0009). Its name must end with `_name_part`: `migrate.ts`
 * gives indexes with such names the operator class `gin_trgm_ops`.
 */
export const PartOfNameIndex = (name: string, property: string, { where }: { where?: string } = {}) =>
  Index(name, [property], { type: 'gin', where });

/**
 * Index for the list of a kind of record, newest first. It has the columns that limit the list, the id and the name, so
 * that neither a page nor a search among the newest records reads the table.
 */
export const ListIndex = (name: string, properties: string[], { where }: { where?: string } = {}) =>
  Index(name, properties, { where });
