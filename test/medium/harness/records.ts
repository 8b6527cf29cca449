import { randomUUID } from 'node:crypto';
import { escapeIdentifier, escapeLiteral } from 'pg';
import { firstRow, rows, type Tx } from '../../../src/platform/persistence/sql';

const ONPREM = 3;
/** Of the reference data. */
const ONPREM_BASIC_AUTH = 3;
const CUSTOM_S3 = 3;
const UBUNTU = 1;
const X86_64 = 0;
const ONPREM_S_4 = 1486;

/** A record of each kind in one tenant. */
export interface Tenancy {
  tenantId: string;
  userId: number;
  credentialsConfId: number;
  networkConfId: number;
  bootDiskImageId: number;
  cloudEnvId: number;
  objectStorageManagerId: number;
  mountId: number;
  clusterConfId: number;
  workspaceId: number;
  clusterId: number;
  jobConfId: number;
}

interface NeededColumn {
  name: string;
  type: string;
}

/** By table; every test database has the same schema. */
const neededColumns = new Map<string, NeededColumn[]>();

/** Inserts a row; what the table needs beyond `values` gets the plainest value of its type. */
export async function insertPlain<T = Record<string, unknown>>(
  tx: Tx,
  table: string,
  values: Readonly<Record<string, unknown>>,
): Promise<T> {
  const entries = await plainEntries(tx, table, values);
  const inserted = await firstRow<T>(
    tx,
    `INSERT INTO ${table} (${entries.map(([column]) => `"${column}"`).join(', ')})
     VALUES (${entries.map((_, index) => `$${index + 1}`).join(', ')}) RETURNING *`,
    entries.map(([, value]) => value),
  );
  return inserted as T;
}

async function plainEntries(tx: Tx, table: string, values: Readonly<Record<string, unknown>>) {
  const needed = neededColumns.get(table) ?? (await readNeededColumns(tx, table));
  neededColumns.set(table, needed);
  const plain = Object.fromEntries(needed.map(({ name, type }) => [name, plainValue(type)]));
  return Object.entries({ ...plain, ...values });
}

/** Rows as {@link insertPlain} inserts them, sent together: whoever makes thousands of records waits for few answers. */
export class PlainRows {
  private statements: string[] = [];

  constructor(private readonly tx: Tx) {}

  async add(table: string, values: Readonly<Record<string, unknown>>): Promise<void> {
    const entries = await plainEntries(this.tx, table, values);
    const columns = entries.map(([column]) => escapeIdentifier(column)).join(', ');
    this.statements.push(
      `INSERT INTO ${table} (${columns}) VALUES (${entries.map(([, value]) => literal(value)).join(', ')})`,
    );
  }

  async flush(): Promise<void> {
    const statements = this.statements.splice(0);
    if (statements.length > 0) await this.tx.query(statements.join(';'));
  }
}

/** A constant of SQL, which takes the type of its column; objects are JSON. */
function literal(value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  if (Buffer.isBuffer(value)) return `'\\x${value.toString('hex')}'`;
  if (value instanceof Date) return `'${value.toISOString()}'`;
  return escapeLiteral(typeof value === 'string' ? value : JSON.stringify(value));
}

function readNeededColumns(tx: Tx, table: string): Promise<NeededColumn[]> {
  return rows<NeededColumn>(
    tx,
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

/** Makes a tenant with a record of each kind; the cluster is RUNNING. */
export async function makeTenancy(tx: Tx, name: string): Promise<Tenancy> {
  const id = async (table: string, column: string, values: object) =>
    Number((await insertPlain(tx, table, { name, ...values }))[column]);
  const { tenant_id: tenantId } = await insertPlain<{ tenant_id: string }>(tx, 'tenants', { name });
  const user = await insertPlain(tx, 'users', { username: name, email: `${name}@example.com` });
  const tenant = { tenant_id: tenantId };
  const provider = { ...tenant, cloud_provider_id: ONPREM };
  const credentialsConfId = await id('credentials_confs', 'credentials_conf_id', {
    ...tenant,
    credential_type_id: ONPREM_BASIC_AUTH,
  });
  const networkConfId = await id('network_confs', 'network_conf_id', provider);
  const bootDiskImageId = await id('boot_disk_images', 'boot_disk_image_id', {
    ...provider,
    linux_distro_id: UBUNTU,
    architecture_type_id: X86_64,
  });
  const objectStorageManagerId = await id('object_storage_managers', 'object_storage_manager_id', {
    ...provider,
    credentials_conf_id: credentialsConfId,
  });
  const mountId = await id('mounts', 'mount_id', {
    ...tenant,
    credentials_conf_id: credentialsConfId,
    storage_type_id: CUSTOM_S3,
    encryption_type_id: null,
    source: 'bucket/path',
    mount_point: '/mnt/data',
  });
  const cloudEnvId = await id('cloud_envs', 'cloud_env_id', {
    ...provider,
    credentials_conf_id: credentialsConfId,
    network_conf_id: networkConfId,
    boot_disk_image_id: bootDiskImageId,
  });
  const clusterConfId = await id('cluster_confs', 'cluster_conf_id', { ...tenant, machine_type_id: ONPREM_S_4 });
  const [version] = await rows<{ id: number }>(
    tx,
    'SELECT min(spark_infra_version_id) AS id FROM spark_infra_versions',
  );
  const clusterId = await id('clusters', 'cluster_id', {
    ...tenant,
    cloud_env_id: cloudEnvId,
    cluster_conf_id: clusterConfId,
    spark_infra_version_id: version?.id,
    status: 'RUNNING',
    cluster_type: 'PLATFORM',
    min_instances: 1,
    max_instances: 1,
  });
  const workspaceId = await id('workspaces', 'workspace_id', tenant);
  const jobConfId = await id('job_confs', 'job_conf_id', {
    ...tenant,
    workspace_id: workspaceId,
    cluster_id: clusterId,
  });
  return {
    tenantId,
    userId: Number(user['user_id']),
    credentialsConfId,
    networkConfId,
    bootDiskImageId,
    cloudEnvId,
    objectStorageManagerId,
    mountId,
    clusterConfId,
    workspaceId,
    clusterId,
    jobConfId,
  };
}

/** Adds a node that takes runs. */
export async function makeNode(tx: Tx, tenancy: Tenancy, nodeNumber: number): Promise<number> {
  const node = await insertPlain(tx, 'cluster_nodes', {
    tenant_id: tenancy.tenantId,
    cluster_id: tenancy.clusterId,
    node_number: nodeNumber,
    role: 'single',
    machine_type_id: ONPREM_S_4,
    status: 'RUNNING',
    daemons_state: 'ready',
    bootstrap_token_hash: randomUUID(),
  });
  return Number(node['node_id']);
}
