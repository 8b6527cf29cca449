import { randomUUID } from 'node:crypto';
import { escapeIdentifier, escapeLiteral } from 'pg';
import { firstRow, rows, type Db } from '../../../src/platform/kernel/persistence/sql';
import { type Ids, type Kind, KINDS, rowOf, tableOf } from '../../samples';
import { REFERENCE } from '../../samples/reference';

/** A record of each kind in one tenant. */
export interface Tenancy {
  tenantId: string;
  userId: number;
  /** The id of every record, by `<kind>_id`. */
  ids: Ids;
  credentialsConfId: number;
  networkConfId: number;
  bootDiskImageId: number;
  cloudEnvId: number;
  mountId: number;
  clusterConfId: number;
  workspaceId: number;
  clusterId: number;
  jobConfId: number;
  metastoreCatalogId: number;
}

interface NeededColumn {
  name: string;
  type: string;
}

/** Columns by table. Every test database has the same schema, so they are read once. */
const neededColumns = new Map<string, NeededColumn[]>();

/** Inserts a row. Required columns that `values` lacks get the plainest value of their type. */
export async function insertPlain<T = Record<string, unknown>>(
  db: Db,
  table: string,
  values: Readonly<Record<string, unknown>>,
): Promise<T> {
  const entries = await plainEntries(db, table, values);
  const inserted = await firstRow<T>(
    db,
    `WITH made AS (
       INSERT INTO ${table} (${entries.map(([column]) => `"${column}"`).join(', ')})
       VALUES (${entries.map((_, index) => `$${index + 1}`).join(', ')}) RETURNING *)
     ${FIRST_ENTRY[table] ?? ''} SELECT * FROM made`,
    entries.map(([, value]) => value),
  );
  return inserted as T;
}

/** SQL that inserts the first history entry of a row, which the database requires. */
const FIRST_ENTRY: Readonly<Record<string, string>> = {
  clusters: `, entry AS (
    INSERT INTO cluster_states (cluster_id, sequence, status, reason, start_time, node_count)
    SELECT cluster_id, 1, status, 'As a test has it', platform_clock(), 0 FROM made)`,
  cluster_nodes: `, entry AS (
    INSERT INTO node_states (node_id, cluster_id, sequence, status, reason, start_time)
    SELECT node_id, cluster_id, 1, status, 'As a test has it', platform_clock() FROM made)`,
};

async function plainEntries(db: Db, table: string, values: Readonly<Record<string, unknown>>) {
  const needed = neededColumns.get(table) ?? (await readNeededColumns(db, table));
  neededColumns.set(table, needed);
  const plain = Object.fromEntries(needed.map(({ name, type }) => [name, plainValue(type)]));
  return Object.entries({ ...plain, ...values });
}

/**
 * Inserts rows as {@link insertPlain} does, but without history entries, in batches and in the order in which tables
 * refer to each other: thousands of records need few round trips and few query plans.
 */
export class PlainRows {
  /** Values of rows, by table and columns. */
  private readonly rowsByColumns = new Map<string, { table: string; values: string[] }>();

  constructor(private readonly tx: Db) {}

  async add(table: string, values: Readonly<Record<string, unknown>>): Promise<void> {
    const entries = await plainEntries(this.tx, table, values);
    const into = `${table} (${entries.map(([column]) => escapeIdentifier(column)).join(', ')})`;
    const rows = this.rowsByColumns.get(into) ?? { table, values: [] };
    rows.values.push(`(${entries.map(([, value]) => literal(value)).join(', ')})`);
    this.rowsByColumns.set(into, rows);
  }

  async flush(): Promise<void> {
    if (this.rowsByColumns.size === 0) return;
    const order = await tableOrder(this.tx);
    const inserts = [...this.rowsByColumns].sort(
      ([, one], [, other]) => order.indexOf(one.table) - order.indexOf(other.table),
    );
    this.rowsByColumns.clear();
    await this.tx.query(
      inserts.map(([into, { values }]) => `INSERT INTO ${into} VALUES ${values.join(', ')}`).join(';'),
    );
  }
}

/** Every test database has the same schema. */
let orderOfTables: string[] | undefined;

/** All tables, each one after the tables it refers to. */
async function tableOrder(db: Db): Promise<string[]> {
  return (orderOfTables ??= orderedByReference(
    await rows<{ name: string; refers_to: string[] }>(
      db,
      `SELECT t.relname AS name, array_agg(r.relname::text) AS refers_to FROM pg_constraint c
       JOIN pg_class t ON t.oid = c.conrelid JOIN pg_class r ON r.oid = c.confrelid
       WHERE c.contype = 'f' GROUP BY t.relname`,
    ),
  ));
}

function orderedByReference(tables: { name: string; refers_to: string[] }[]): string[] {
  const references = new Map(tables.map(({ name, refers_to }) => [name, refers_to]));
  const ordered = new Set<string>();
  const under = new Set<string>();
  const visit = (name: string) => {
    // Jobs of workflows and runs refer to each other; the database checks that reference only when the transaction ends.
    if (ordered.has(name) || under.has(name)) return;
    under.add(name);
    references.get(name)?.forEach(visit);
    ordered.add(name);
  };
  tables.forEach(({ name }) => visit(name));
  return [...ordered];
}

/** Returns an SQL literal, which takes the type of its column; objects become JSON. */
function literal(value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  if (Buffer.isBuffer(value)) return `'\\x${value.toString('hex')}'`;
  if (value instanceof Date) return `'${value.toISOString()}'`;
  return escapeLiteral(typeof value === 'string' ? value : JSON.stringify(value));
}

function readNeededColumns(db: Db, table: string): Promise<NeededColumn[]> {
  return rows<NeededColumn>(
    db,
    `SELECT column_name AS name, data_type AS type FROM information_schema.columns
     WHERE table_name = $1 AND is_nullable = 'NO' AND column_default IS NULL AND is_identity = 'NO'`,
    [table],
  );
}

function plainValue(type: string): unknown {
  switch (type) {
    case 'boolean':
      return false;
    case 'integer':
    case 'bigint':
    case 'double precision':
    case 'numeric':
      return 1;
    case 'jsonb':
      return '{}';
    case 'ARRAY':
      return [];
    case 'uuid':
      return randomUUID();
    case 'bytea':
      return Buffer.from('plain');
    case 'timestamp with time zone':
      return new Date();
    default:
      return 'plain';
  }
}

/** Kinds that a tenancy leaves out: no test needs the volume, and the tenancy has its own user. */
export const KINDS_OF_TENANCY = KINDS.map(([kind]) => kind).filter(
  (kind) => !['volume_conf', 'user', 'group'].includes(kind),
);

/** Creates a tenant with a record of each kind; the cluster is RUNNING. */
export async function makeTenancy(db: Db, name: string): Promise<Tenancy> {
  const { tenant_id: tenantId } = await insertPlain<{ tenant_id: string }>(db, 'tenants', { name });
  const user = await insertPlain(db, 'users', { username: name, email: `${name}@example.com` });
  const ids: Record<string, number> = { user_id: Number(user['user_id']) };
  for (const kind of KINDS_OF_TENANCY) {
    const values = {
      tenant_id: tenantId,
      name,
      ...rowOf(kind, ids),
      ...(kind === 'cluster' ? { status: 'RUNNING' } : {}),
    };
    ids[`${kind}_id`] = Number((await insertPlain(db, tableOf(kind), values))[`${kind}_id`]);
  }
  const idOf = (kind: Kind) => ids[`${kind}_id`] ?? 0;
  await admit(db, { user_id: Number(user['user_id']), tenant_id: tenantId, workspace_id: idOf('workspace') });
  return {
    tenantId,
    userId: Number(user['user_id']),
    ids,
    credentialsConfId: idOf('credentials_conf'),
    networkConfId: idOf('network_conf'),
    bootDiskImageId: idOf('boot_disk_image'),
    cloudEnvId: idOf('cloud_env'),
    mountId: idOf('mount'),
    clusterConfId: idOf('cluster_conf'),
    workspaceId: idOf('workspace'),
    clusterId: idOf('cluster'),
    jobConfId: idOf('job_conf'),
    metastoreCatalogId: idOf('metastore_catalog'),
  };
}

/** Gives the user RUN on the workspace. */
async function admit(db: Db, ids: { user_id: number; tenant_id: string; workspace_id: number }): Promise<void> {
  const { user_id, tenant_id } = ids;
  const lookups = await firstRow<{ role_id: number; permission_id: number }>(
    db,
    `SELECT role_id, permission_id FROM roles, workspace_permissions WHERE role = 'USER' AND name = 'RUN'`,
  );
  await insertPlain(db, 'user_roles', { user_id, tenant_id, role_id: lookups?.role_id });
  await insertPlain(db, 'workspace_users', { ...ids, permission_id: lookups?.permission_id });
}

/** Adds a node that is ready for runs. */
export async function makeNode(db: Db, tenancy: Tenancy, nodeNumber: number): Promise<number> {
  const node = await insertPlain(db, 'cluster_nodes', {
    tenant_id: tenancy.tenantId,
    cluster_id: tenancy.clusterId,
    node_number: nodeNumber,
    role: 'single',
    machine_type_id: REFERENCE.machine_type_id,
    status: 'RUNNING',
    daemons_state: 'ready',
    bootstrap_token_hash: randomUUID(),
  });
  return Number(node['node_id']);
}
