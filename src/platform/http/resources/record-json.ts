import { TenantColumns } from '../../kernel/persistence/columns';
import { columnsOf, type EntityClass } from '../../kernel/persistence/entity-table';

/** Columns of a kind of record, without those that every record of a tenant has. */
export type Own<E extends TenantColumns> = Omit<E, keyof TenantColumns>;

/**
 * Returns the SQL of a jsonb object with the {@link Own} columns of an entity under a table alias, so that a query returns a
 * whole referenced record. `nested` adds members that are SQL expressions; `without` leaves out secrets.
 */
export function recordJson<E extends TenantColumns>(
  alias: string,
  entity: EntityClass<E>,
  { nested = {}, without = [] }: { nested?: Readonly<Record<string, string>>; without?: readonly (keyof E)[] } = {},
): string {
  const shared = columnsOf(TenantColumns) as string[];
  const own = columnsOf(entity).filter((column) => !shared.includes(column) && !without.includes(column));
  const members = [
    ...own.map((column) => `'${column}', ${alias}.${column}`),
    ...Object.entries(nested).map(([key, sql]) => `'${key}', ${sql}`),
  ];
  return `jsonb_build_object(${members.join(', ')})`;
}
