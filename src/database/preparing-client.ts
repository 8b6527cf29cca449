import { createHash } from 'node:crypto';
import { Client } from 'pg';
import { isPrepared } from '../platform/persistence/sql';

/** PostgreSQL keeps a plan of each on every connection; there are a handful. */
const MOST_NAMES = 200;

/** Names of the statements, by their text. */
const names = new Map<string, string>();

function nameOf(sql: string): string | null {
  if (!isPrepared(sql)) return null;
  const known = names.get(sql);
  if (known !== undefined || names.size >= MOST_NAMES) return known ?? null;
  const name = createHash('sha256').update(sql).digest('base64url').slice(0, 22);
  names.set(sql, name);
  return name;
}

/**
 * A connection on which PostgreSQL plans the statements that are marked for it (`prepared`) once and keeps the plan. It
 * must be a session of its own: a pooler that shares sessions between transactions has to know prepared statements.
 */
export class PreparingClient extends Client {
  private readonly unprepared = super.query.bind(this) as (...args: unknown[]) => unknown;

  // The overloads of the driver, of which the pool and TypeORM use some; all end here.
  override query = (first: unknown, values?: unknown, ...rest: unknown[]): never => {
    const name = typeof first === 'string' ? nameOf(first) : null;
    if (name === null) return this.unprepared(first, values, ...rest) as never;
    return this.unprepared({ name, text: first, values }, ...rest) as never;
  };
}
