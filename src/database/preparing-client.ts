import { createHash } from 'node:crypto';
import { Client } from 'pg';
import { isPrepared } from '../platform/kernel/persistence/sql';

/** Maximum number of prepared statements, because PostgreSQL keeps a plan of each on every connection. */
const MAX_NAMES = 200;

/** Names of prepared statements by their text. */
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
 * A connection on which PostgreSQL plans statements marked with `prepared` once and keeps the plan. A pooler between process
 * and database that shares sessions among transactions must support prepared statements.
 */
export class PreparingClient extends Client {
  constructor(config?: ConstructorParameters<typeof Client>[0]) {
    super(config);
    // The pool removes its error listener when it hands out a connection, and the new owner adds one a moment later. An error
    // in between, such as an end of the session that is read together with its beginning, would end the process without
    // this listener. The next query on the connection fails.
    this.on('error', () => undefined);
  }

  // The pool and TypeORM use several overloads of the driver, which this method all covers.
  override query = (first: unknown, values?: unknown, ...rest: unknown[]): never => {
    const name = typeof first === 'string' ? nameOf(first) : null;
    if (name === null) return this.send(first, values, ...rest);
    return this.send({ name, text: first, values }, ...rest);
  };

  private send(...args: unknown[]): never {
    return Reflect.apply(Reflect.get(Client.prototype, 'query'), this, args) as never;
  }
}
