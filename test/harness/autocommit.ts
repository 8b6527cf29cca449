import type { Db, Tx } from '../../src/platform/kernel/persistence/sql';

/** Lets a test call a write outside a transaction; each of its statements then commits on its own. */
export function autocommit(db: Db): Tx {
  return db as Tx;
}
