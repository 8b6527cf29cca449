import { Column, type ColumnOptions, Index, PrimaryGeneratedColumn } from 'typeorm';

/** Columns of entities, named as in the database. Entities describe the schema only (ADR 0002). */
export const Col = {
  identity: (name: string, primaryKeyConstraintName?: string) =>
    PrimaryGeneratedColumn('identity', {
      name,
      type: 'bigint',
      generatedIdentity: 'BY DEFAULT',
      primaryKeyConstraintName,
    }),
  bigint: (name: string, options: ColumnOptions = {}) => Column({ name, type: 'bigint', ...options }),
  int: (name: string, options: ColumnOptions = {}) => Column({ name, type: 'integer', ...options }),
  float: (name: string, options: ColumnOptions = {}) => Column({ name, type: 'double precision', ...options }),
  text: (name: string, options: ColumnOptions = {}) => Column({ name, type: 'text', ...options }),
  bool: (name: string, options: ColumnOptions = {}) => Column({ name, type: 'boolean', ...options }),
  uuid: (name: string, options: ColumnOptions = {}) => Column({ name, type: 'uuid', ...options }),
  json: (name: string, options: ColumnOptions = {}) => Column({ name, type: 'jsonb', ...options }),
  texts: (name: string, options: ColumnOptions = {}) => Column({ name, type: 'text', array: true, ...options }),
  bytes: (name: string, options: ColumnOptions = {}) => Column({ name, type: 'bytea', ...options }),
  time: (name: string, options: ColumnOptions = {}) => Column({ name, type: 'timestamptz', ...options }),
};

/** Interval in which a record holds; `to_date` is infinity while it is current. */
export abstract class ValidityColumns {
  @Col.time('from_date', { default: () => 'now()' }) fromDate: Date;
  @Col.time('to_date', { default: 'infinity' }) toDate: Date;
}

/** Who wrote a record and when, and the interval in which it holds. */
export abstract class AuditColumns extends ValidityColumns {
  @Col.bigint('created_by_user_id', { nullable: true }) createdByUserId: string | null;
  @Col.bigint('modified_by_user_id', { nullable: true }) modifiedByUserId: string | null;
  @Col.time('last_update_date', { default: () => 'now()' }) lastUpdateDate: Date;
}

/** A tenant's record. Subclasses add `@Unique(['tenantId', 'id'])` for the composite foreign keys that point at them. */
export abstract class TenantColumns extends AuditColumns {
  @Col.uuid('tenant_id') tenantId: string;
}

/** Condition of the partial indexes over current records. */
export const CURRENT = `to_date = 'infinity'`;

/** Condition of those over records that are so no more. */
export const CLOSED = `to_date <> 'infinity'`;

/**
 * Index behind a search by part of a name (`Conditions.addContains`). TypeORM has no word for the operator class: add
 * `gin_trgm_ops` to the column in the migration that it generates. See ADR 0009.
 */
export const PartOfNameIndex = (name: string, property: string, { where }: { where?: string } = {}) =>
  Index(name, [property], { type: 'gin', where });

/**
 * Index behind the list of a kind of record, newest first: the columns that the list is limited by, the id, and the name,
 * so that neither a page nor a search among the newest reads the records themselves.
 */
export const ListIndex = (name: string, properties: string[], { where }: { where?: string } = {}) =>
  Index(name, properties, { where });
