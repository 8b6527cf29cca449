import { createHash } from 'node:crypto';
import { Client } from 'pg';
import { isPrepared } from '../platform/kernel/persistence/sql';

/** PostgreSQL keeps a plan of each on every connection: reads by id or name of each kind, and the hot statements. */
const MAX_NAMES = 200;

/** Names of the statements, by their text. */
const names = new Map<string, string>();

function nameOf(sql: string): string | null {
  if (!isPrepared(sql)) return null;
  const known = names.get(sql);
  if (known !== undefined || names.size >= MAX_NAMES) return known ?? null;
  const name = createHash('sha256').update(sql).digest('base64url').slice(0, 22);
  names.set(sql, name);
  return name;
}

/**
 * A connection on which PostgreSQL plans the statements that are marked for it (`prepared`) once and keeps the plan. It
 * must be a session of its own: a pooler that shares sessions between transactions has to know prepared statements.
 */
export class PreparingClient extends Client {
  constructor(config?: ConstructorParameters<typeof Client>[0]) {
    super(config);
    // The pool stops listening when it hands a connection out, and its new owner begins a moment later. An end of the
    // session that is read together with its beginning falls in between; unheard, it would end the process. Whoever uses
    // the connection next is told that it is lost.
    this.on('error', () => undefined);
  }

  // The overloads of the driver, of which the pool and TypeORM use some; all end here.
  override query = (first: unknown, values?: unknown, ...rest: unknown[]): never => {
    const name = typeof first === 'string' ? nameOf(first) : null;
    if (name === null) return this.send(first, values, ...rest);
    return this.send({ name, text: first, values }, ...rest);
  };

  private send(...args: unknown[]): never {
    return Reflect.apply(Reflect.get(Client.prototype, 'query'), this, args) as never;
  }
}
