import { Column, type ColumnOptions, Index, PrimaryGeneratedColumn } from 'typeorm';

/** Columns of entities, named as in the database. The entity is the row (ADR 0014). */
export const Col = {
  identity: (primaryKeyConstraintName?: string) =>
    PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'BY DEFAULT', primaryKeyConstraintName }),
  bigint: (options: ColumnOptions = {}) => Column({ type: 'bigint', ...options }),
  int: (options: ColumnOptions = {}) => Column({ type: 'integer', ...options }),
  float: (options: ColumnOptions = {}) => Column({ type: 'double precision', ...options }),
  /** Exact; read as its text, so that no arithmetic in floats can happen to it. */
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

/** A point in time as the driver reads it: `infinity` becomes the number. */
export type Moment = Date | number;

/** Interval in which a record is valid; `to_date` is infinity while it is current. */
export abstract class ValidityColumns {
  @Col.time({ default: () => 'platform_now()' }) from_date: Date;
  /** Infinity while the record is current. */
  @Col.time({ default: 'infinity' }) to_date: Moment;
}

/** Who wrote a record and when, and the interval in which it is valid. */
export abstract class AuditColumns extends ValidityColumns {
  @Col.bigint({ nullable: true }) created_by_user_id: number | null;
  @Col.bigint({ nullable: true }) modified_by_user_id: number | null;
  @Col.time({ default: () => 'platform_now()' }) last_update_date: Date;
}

/** A tenant's record. Subclasses add `@Unique(['tenantId', 'id'])` for the composite foreign keys that point at them. */
export abstract class TenantColumns extends AuditColumns {
  @Col.uuid() tenant_id: string;
}

/** Condition of the partial indexes over current records. */
export const CURRENT = `to_date = 'infinity'`;

/** Condition of those over records that no longer are. */
export const CLOSED = `to_date <> 'infinity'`;

/** Condition that a column has one of the values, which are constants of the code: names of states and kinds. */
export const oneOf = (column: string, values: readonly string[]) =>
  `${column} IN (${values.map((value) => `'${value}'`).join(', ')})`;

/**
 * Index behind a search by part of a name (`Conditions.addContains`); its name ends with `_name_part`, by which `migrate.ts`
 * knows that its operator class is `gin_trgm_ops`. See ADR 0009.
 */
export const PartOfNameIndex = (name: string, property: string, { where }: { where?: string } = {}) =>
  Index(name, [property], { type: 'gin', where });

/**
 * Index behind the list of a kind of record, newest first: the columns that limit the list, the id, and the name, so
 * that neither a page nor a search among the newest reads the records themselves.
 */
export const ListIndex = (name: string, properties: string[], { where }: { where?: string } = {}) =>
  Index(name, properties, { where });
