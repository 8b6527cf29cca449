import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { DataSource } from 'typeorm';
import type { BlobStore, StoredBlob } from '../../../libs/object-storage/blob-store';
import type { LogName, LogStore } from '../../../libs/object-storage/log-store';
import { ROLES } from '../../../src/platform/kernel/auth/roles';
import { type Tx, inTransaction } from '../../../src/platform/kernel/persistence/sql';
import type { MemoryS3 } from '../harness/memory-s3';
import { PlainRows } from '../harness/records';
import { type Ids, type Kind, KINDS, rowOf, tableOf } from '../../samples';
import { CATALOG_TYPE, unityDetails } from '../../samples/metastore-catalog';
import { SECRET_TYPE } from '../../samples/scoped-secrets';
import { REFERENCE } from '../../samples/reference';

/** One of the two tenants: `own` has the requested records, `foreign` the callers from outside. */
export type Side = 'own' | 'foreign';

/**
 * Marks every text and every id of one side's records, so that a leaked record is recognized anywhere.
 * Ids are the prefix and seven digits.
 */
export const MARKS: Record<Side, { text: string; idPrefix: string }> = {
  own: { text: 'quokka', idPrefix: '71' },
  foreign: { text: 'numbat', idPrefix: '82' },
};

const ID_STEP = 10_000_000;

/** The day since which, by the ledger, a node of each tenant has been running. */
export const BILLED_ON = '2020-01-31';

/** The code of the only cell of each notebook. */
export const CELL_SOURCE = 'spark.range(1)';

export function roleId(role: (typeof ROLES)[number]): number {
  return ROLES.indexOf(role);
}

/** Kinds that need more than the sample row, or rows in several states. */
const OTHER_KINDS: readonly Kind[] = [
  ...['mount', 'object_storage_manager', 'cluster', 'workspace', 'job_conf', 'user', 'group'],
  ...['workspace_secret', 'user_secret'],
];
/** All other kinds, new ones included. */
export const PLAIN_KINDS = KINDS.map(([kind]) => kind).filter((kind) => !OTHER_KINDS.includes(kind));

/** Every record of one tenant: ids and names by the names that parameters and body fields of the API have. */
export interface TenantRecords {
  side: Side;
  tenantId: string;
  values: Record<string, string | number>;
  /** Records that nothing refers to, for operations that refuse records in use. */
  unused: Record<string, string | number>;
  /** Credentials that open an object store. */
  storeCredentials: Record<string, string | number>;
  clusters: Record<'running' | 'stopped' | 'destroyed' | 'disabled', { cluster_id: number; cluster_name: string }>;
  /** A node of the running cluster. */
  nodeId: number;
  disabledUser: { user_id: number; username: string };
  disabledWorkspace: WorkspaceRef;
  /** Job configurations without jobs. */
  jobConfs: Record<'idle' | 'disabled', JobConfRef>;
  /** Notebook configurations without instances. */
  notebookConfs: Record<'idle' | 'disabled', NotebookConfRef>;
  /** A file of the object storage manager. */
  storageFile: { file_id: number; file_path: string; file_name: string };
  /** A metastore catalog of each type that no cluster uses. */
  catalogs: Record<'Hive' | 'Glue' | 'Unity', { metastore_catalog_id: number }>;
  /** A Hive catalog to which secrets of the tenant, of the workspace and of the user are attached. */
  openedCatalog: { metastore_catalog_id: number; metastore_catalog_name: string };
  /** A further workspace, for permissions on another workspace than the requested one. */
  otherWorkspace: WorkspaceRef;
}

export interface WorkspaceRef {
  workspace_id: number;
  workspace_name: string;
}

interface JobConfRef {
  job_conf_id: number;
  job_conf_name: string;
}

interface NotebookConfRef {
  notebook_conf_id: number;
  notebook_name: string;
}

/** The object store with the buckets of the tenants' object storage managers. */
export interface StoreOfRecords {
  store: MemoryS3;
  /** Seals the credentials of the store for a database row. */
  seal: (tx: Tx, tenantId: string, credentialsConfId: number) => Promise<Buffer>;
}

/** Makes tenants with a record of each kind. */
export class TenantRecordsMaker {
  private readonly next: Record<Side, number> = { own: 1, foreign: 1 };

  constructor(
    private readonly dataSource: DataSource,
    private readonly blobs: BlobStore,
    private readonly logs: LogStore,
    private readonly objectStorage: StoreOfRecords,
  ) {}

  /** Makes pairs of tenants in one transaction: ten at once cost little more than one. */
  async make(pairs: number): Promise<Record<Side, TenantRecords>[]> {
    return inTransaction(this.dataSource, async (tx) => {
      const rows = new PlainRows(tx);
      const begun: Record<Side, Inserting>[] = [];
      for (let count = 0; count < pairs; count += 1) {
        begun.push({ own: await this.begin('own', tx, rows), foreign: await this.begin('foreign', tx, rows) });
      }
      // The tenants have to be there before something is sealed with their keys.
      await rows.flush();
      const made: Record<Side, TenantRecords>[] = [];
      for (const { own, foreign } of begun) {
        made.push({ own: await this.recordsOf(own), foreign: await this.recordsOf(foreign) });
      }
      await rows.flush();
      return made;
    });
  }

  /** Adds the tenant itself and returns the functions that add its records. */
  private async begin(side: Side, tx: Tx, rows: PlainRows): Promise<Inserting> {
    const { text, idPrefix } = MARKS[side];
    const nextId = () => Number(idPrefix) * ID_STEP + this.next[side]++;
    const nameOf = (kind: string) => `${text}-${kind}-${this.next[side]++}`;
    const [tenantId, tenantName] = [randomUUID(), nameOf('tenant')];
    await rows.add('tenants', { tenant_id: tenantId, name: tenantName });
    const insert = async (table: string, idColumn: string, values: object): Promise<number> => {
      const id = nextId();
      await rows.add(table, { tenant_id: tenantId, [idColumn]: id, ...values });
      return id;
    };
    const named = async (table: string, prefix: string, values: object = {}) => {
      const name = nameOf(prefix);
      const id = await insert(table, `${prefix}_id`, { name, description: `${text} ${prefix}`, ...values });
      return { [`${prefix}_id`]: id, [`${prefix}_name`]: name };
    };
    // Each tenant has a blob of its own, because deleting a file deletes its bytes, too.
    const blob = await this.blobs.write(Readable.from([Buffer.from(`${text} content\n`)]), 1024);
    const names = { text, blob, nextId, nameOf, insert, named };
    return { tx, rows, side, tenantId, tenantName, ...this.objectStorage, ...names };
  }

  private async recordsOf(tenant: Inserting): Promise<TenantRecords> {
    const { records, logs } = await insertRecords(tenant);
    const line = Buffer.from(`${tenant.text} says hello\n`);
    await Promise.all(logs.map((log) => this.logs.write(log, 0, line)));
    return records;
  }
}

/** Collects the records of a tenant. Only the tenant itself is in the database before all of them are complete. */
interface Inserting extends StoreOfRecords {
  tx: Tx;
  rows: PlainRows;
  side: Side;
  tenantId: string;
  tenantName: string;
  text: string;
  blob: StoredBlob;
  nextId: () => number;
  nameOf: (kind: string) => string;
  /** Adds a record of the tenant and returns its id. */
  insert: (table: string, idColumn: string, values: object) => Promise<number>;
  /** Adds a record with a name and returns both, as `<prefix>_id` and `<prefix>_name`. */
  named: (table: string, prefix: string, values?: object) => Promise<Record<string, string | number>>;
}

async function insertRecords(into: Inserting): Promise<{ records: TenantRecords; logs: LogName[] }> {
  const people = await insertPeople(into);
  const managers = { used: await insertObjectStorageManager(into), unused: await insertObjectStorageManager(into) };
  const storeCredentials = managers.used.credentials;
  const infrastructure = await insertInfrastructure(into);
  const used = { ...infrastructure, ...managers.used.ref, ...(await insertMount(into, storeCredentials)) };
  const unused = {
    ...(await insertInfrastructure(into, infrastructure as Ids)),
    ...managers.unused.ref,
    ...(await insertMount(into, storeCredentials)),
  };
  const clusters = await insertClusters(into, used);
  const catalogs = await insertCatalogs(into);
  const work = await insertWork(into, clusters.running, people.values);
  const opened = await insertCatalogSecrets(into, { ...people.values, ...work.values } as unknown as Ids);
  return {
    records: {
      side: into.side,
      tenantId: into.tenantId,
      values: {
        ...people.values,
        ...used,
        ...clusters.running,
        ...clusters.node,
        ...work.values,
        ...opened.values,
      },
      unused: { ...people.unused, ...unused },
      storageFile: managers.used.file,
      disabledUser: people.disabledUser,
      storeCredentials,
      clusters: clusters.byState,
      nodeId: clusters.nodeId,
      disabledWorkspace: work.disabled,
      jobConfs: work.jobConfs,
      notebookConfs: work.notebooks.confs,
      catalogs,
      openedCatalog: opened.catalog,
      otherWorkspace: work.other,
    },
    logs: [
      ...[work.runId, work.notebooks.values.notebook_id].flatMap((id) =>
        (['stdout', 'stderr'] as const).map((stream) => ({ kind: 'run' as const, id, stream })),
      ),
      ...(['stdout', 'stderr'] as const).map((stream) => ({ kind: 'node' as const, id: clusters.nodeId, stream })),
    ],
  };
}

/** The columns of a personal token. */
export function personalToken(userId: number, tenantId: string | null): Record<string, unknown> {
  return { user_id: userId, tenant_id: tenantId, kind: 'token', expires_at: 'infinity' };
}

/** Adds a user in a group, and users and groups without each other. */
async function insertPeople({ rows, tenantId, tenantName, text, nextId, nameOf, named }: Inserting) {
  const user = async (more: object = {}) => {
    const [userId, username] = [nextId(), nameOf('user')];
    const account = { username, display_name: `${text} user`, email: `${username}@example.org` };
    const owner = { owner_tenant_id: tenantId, password_known_to_tenant: true };
    await rows.add('users', { user_id: userId, ...account, ...owner, ...more });
    await rows.add('user_roles', { user_id: userId, role_id: roleId('USER'), tenant_id: tenantId });
    return { user_id: userId, username };
  };
  const group = async () => {
    const [groupId, groupname] = [nextId(), nameOf('group')];
    await rows.add('groups', { group_id: groupId, group_name: groupname, owner_tenant_id: tenantId });
    return { group_id: groupId, groupname };
  };
  const [member, team] = [await user(), await group()];
  await rows.add('group_users', { group_id: team.group_id, user_id: member.user_id });
  const secret = await named('user_secrets', 'user_secret', rowOf('user_secret', { user_id: member.user_id }));
  await rows.add('group_roles', { group_id: team.group_id, role_id: roleId('USER'), tenant_id: tenantId });
  const [emptyTenant, tenant_id] = [nameOf('tenant'), randomUUID()];
  await rows.add('tenants', { tenant_id, name: emptyTenant });
  const tokenId = nextId();
  await rows.add('sessions', { ...personalToken(member.user_id, tenantId), token_id: tokenId });
  return {
    values: { tenant_id: tenantId, tenant_name: tenantName, token_id: tokenId, ...member, ...team, ...secret },
    unused: { ...(await user()), ...(await group()), tenant_id, tenant_name: emptyTenant },
    disabledUser: await user({ to_date: new Date() }),
  };
}

/** Columns of plain kinds that differ from their samples. */
const OWN_COLUMNS: Partial<Record<Kind, (nameOf: (kind: string) => string) => object>> = {
  cloud_env: () => ({ endpoint: 'local://' }),
  // URLs are unique in a tenant.
  dependency_repository: (nameOf) => ({ url: `https://${nameOf('host')}.example.org/` }),
};

/**
 * Adds one record of each kind for which the sample is enough. They refer to the records of `others`, so that nothing
 * refers to them, or to each other.
 */
async function insertInfrastructure(
  { named, nameOf }: Inserting,
  others?: Ids,
): Promise<Record<string, string | number>> {
  const made: Record<string, string | number> = {};
  for (const kind of PLAIN_KINDS) {
    const own = OWN_COLUMNS[kind]?.(nameOf) ?? {};
    Object.assign(made, await named(tableOf(kind), kind, { ...rowOf(kind, others ?? (made as Ids)), ...own }));
  }
  return made;
}

/** Adds a mount. Parameters call its credentials by another name. */
async function insertMount({ insert, nameOf, text }: Inserting, storeCredentials: Record<string, string | number>) {
  const name = nameOf('mount');
  const row = rowOf('mount', storeCredentials as Ids);
  const id = await insert('mounts', 'mount_id', { name, ...row, source: `${text}/path`, mount_point: `/mnt/${name}` });
  return { mount_id: id, mount_name: name, credentials_config_id: storeCredentials['credentials_conf_id'] ?? 0 };
}

/** A metastore catalog of each type. */
async function insertCatalogs({ named }: Inserting): Promise<TenantRecords['catalogs']> {
  const catalog = async (typeId: number, details: object) => {
    const made = await named('metastore_catalogs', 'metastore_catalog', { metastore_catalog_type_id: typeId, details });
    return { metastore_catalog_id: Number(made['metastore_catalog_id']) };
  };
  return {
    Hive: await catalog(CATALOG_TYPE.hive, { files: ['hiveSiteXml'] }),
    Glue: await catalog(CATALOG_TYPE.glue, {}),
    Unity: await catalog(CATALOG_TYPE.unity, unityDetails),
  };
}

/** Columns of the secrets that open the metastore of a Hive catalog and the store of its tables. */
const OPENING_TYPES = { metastore_secret_id: SECRET_TYPE.hiveBasic, storage_secret_id: SECRET_TYPE.awsKeys };

/** Adds a catalog with secrets of each scope. */
async function insertCatalogSecrets({ insert, named, nameOf }: Inserting, owners: Ids) {
  const details = { files: ['hiveSiteXml'] };
  const catalog = await named('metastore_catalogs', 'metastore_catalog', {
    metastore_catalog_type_id: CATALOG_TYPE.hive,
    details,
  });
  const values: Record<string, number> = {};
  for (const [scope, column] of [['tenant'], ['workspace', 'workspace_id'], ['user', 'user_id']] as const) {
    const owner = column ? { [column]: owners[column] } : {};
    const secret = (secret_type_id: number) =>
      insert(`${scope}_secrets`, `${scope}_secret_id`, { name: nameOf('secret'), secret_type_id, ...owner });
    const metastore_secret_id = await secret(OPENING_TYPES.metastore_secret_id);
    const storage_secret_id = await secret(OPENING_TYPES.storage_secret_id);
    const id = `metastore_catalog_secret_${scope}_id`;
    const attached = { metastore_catalog_id: catalog['metastore_catalog_id'], metastore_secret_id, ...owner };
    values[id] = await insert(`${scope}_catalog_secrets`, id, attached);
    values[`metastore_secrets_${scope}_id`] = metastore_secret_id;
    values[`object_storage_secrets_${scope}_id`] = storage_secret_id;
  }
  return { catalog: catalog as unknown as TenantRecords['openedCatalog'], values };
}

/** An object storage manager with a file in a bucket of its own. */
async function insertObjectStorageManager(into: Inserting) {
  const { tx, rows, tenantId, text, store, seal, nextId, nameOf, insert, named } = into;
  const credentialsConfId = nextId();
  const credentials = { credentials_conf_id: credentialsConfId, credentials_conf_name: nameOf('credentials_conf') };
  await rows.add('credentials_confs', {
    tenant_id: tenantId,
    credentials_conf_id: credentialsConfId,
    name: credentials.credentials_conf_name,
    description: `${text} credentials_conf`,
    credential_type_id: REFERENCE.store_credential_type_id,
    sealed: await seal(tx, tenantId, credentialsConfId),
  });
  const bucket = nameOf('bucket');
  const ref = await named('object_storage_managers', 'object_storage_manager', {
    ...rowOf('object_storage_manager', { credentials_conf_id: credentialsConfId }),
    object_storage_bucket_name: bucket,
  });
  const path = `${nameOf('file')}.txt`;
  store.put(bucket, path, Buffer.from(`${text} content`));
  const id = await insert('object_storage_files', 'object_storage_file_id', {
    object_storage_manager_id: ref['object_storage_manager_id'],
    path,
    is_dir: false,
  });
  return { ref, credentials, file: { file_id: id, file_path: path, file_name: path } };
}

type ClusterRef = TenantRecords['clusters']['running'];

/** Adds a cluster in each state that operations need; the running one has a node with a history. */
async function insertClusters(into: Inserting, infrastructure: Record<string, string | number>) {
  const { rows, text, nextId, insert, named } = into;
  const cluster = async (status: string, toDate: Date | 'infinity' = 'infinity'): Promise<ClusterRef> => {
    const ref = await named('clusters', 'cluster', {
      ...rowOf('cluster', infrastructure as Ids),
      max_instances: 2,
      status,
      to_date: toDate,
    });
    return ref as unknown as ClusterRef;
  };
  const running = await cluster('RUNNING');
  const byState = {
    running,
    stopped: await cluster('STOPPED'),
    destroyed: await cluster('DESTROYED'),
    disabled: await cluster('DESTROYED', new Date()),
  };
  for (const [status, { cluster_id }] of [
    ['STOPPED', byState.stopped],
    ['DESTROYED', byState.destroyed],
    ['DESTROYED', byState.disabled],
  ] as const) {
    await rows.add('cluster_states', { cluster_id, status, sequence: 1, node_count: 0 });
  }
  await rows.add('cluster_mounts', {
    tenant_id: into.tenantId,
    cluster_id: running.cluster_id,
    mount_id: infrastructure['mount_id'],
  });
  const instanceId = await insertWorkflow(into, { workflow_type_id: 2, cluster_id: running.cluster_id });
  const nodeId = await insert('cluster_nodes', 'node_id', {
    cluster_id: running.cluster_id,
    node_number: 0,
    role: 'single',
    machine_type_id: REFERENCE.machine_type_id,
    status: 'RUNNING',
    daemons_state: 'ready',
    bootstrap_token_hash: randomUUID(),
  });
  const history = { cluster_id: running.cluster_id, status: 'RUNNING', sequence: 1, reason: `${text} reason` };
  const clusterStateId = nextId();
  await rows.add('cluster_states', { cluster_state_id: clusterStateId, ...history, node_count: 1 });
  const nodeStateId = nextId();
  await rows.add('node_states', {
    node_state_id: nodeStateId,
    node_id: nodeId,
    cluster_state_id: clusterStateId,
    workflow_job_instance_id: instanceId,
    ...history,
  });
  await rows.add('ledger_open_intervals', {
    node_state_id: nodeStateId,
    node_id: nodeId,
    tenant_id: into.tenantId,
    tenant_name: `${text}-tenant`,
    cluster_id: running.cluster_id,
    cluster_name: running.cluster_name,
    cloud_provider: 'OnPrem',
    machine_type_id: REFERENCE.machine_type_id,
    labels: { [`${text}-key`]: `${text}-value` },
    began_at: `${BILLED_ON}T00:00:00Z`,
  });
  return { running: { ...running }, byState, nodeId, node: { node_status_id: nodeStateId } };
}

/** Adds a workflow of the tenant with a failed step and returns the id of its instance. */
async function insertWorkflow({ rows, insert, nextId, text }: Inserting, job: object): Promise<number> {
  const workflowJobId = await insert('workflow_jobs', 'workflow_job_id', job);
  const instanceId = nextId();
  await rows.add('workflow_job_instances', {
    workflow_job_instance_id: instanceId,
    workflow_job_id: workflowJobId,
    state: 'EXECUTING',
  });
  await rows.add('workflow_steps', {
    workflow_job_instance_id: instanceId,
    name: 'step',
    attempt: 1,
    outcome: 'failed',
    error: `${text} step failed`,
  });
  return instanceId;
}

/** A workspace with a file, configurations of a job and a notebook and a waiting run of each; and a disabled workspace. */
async function insertWork(into: Inserting, cluster: ClusterRef, people: { user_id: number; group_id: number }) {
  const { rows, tenantId, text, blob, nextId, nameOf, insert, named } = into;
  const workspace = await named('workspaces', 'workspace');
  const disabled = await named('workspaces', 'workspace', { to_date: new Date() });
  const other = await named('workspaces', 'workspace');
  const place = { workspace_id: workspace['workspace_id'] };
  const mayView = { tenant_id: tenantId, ...place, permission_id: 0 };
  await rows.add('workspace_users', { ...mayView, user_id: people.user_id });
  await rows.add('workspace_groups', { ...mayView, group_id: people.group_id });
  const fileName = `${nameOf('file')}.py`;
  const fileId = await insert('workspace_files', 'workspace_file_id', {
    ...place,
    path: fileName,
    parent_path: '',
    name: fileName,
    is_dir: false,
    size_bytes: blob.size,
    sha256: blob.sha256,
    blob_key: blob.key,
  });
  const settings = { command: 'job.py', extra_info: { note: text } };
  const conf = { ...place, cluster_id: cluster.cluster_id, settings };
  const jobConf = await insertJobConf(into, conf);
  await insert('cluster_workspaces', 'cluster_workspace_id', { ...place, cluster_id: cluster.cluster_id });
  const secret = await named('workspace_secrets', 'workspace_secret', rowOf('workspace_secret', place as Ids));
  const applicationId = nameOf('application');
  const runId = await insert('runs', 'run_id', {
    ...place,
    job_conf_id: jobConf.job_conf_id,
    cluster_id: cluster.cluster_id,
    status: 'SUBMITTED',
    job_conf_snapshot: {
      ...jobConf,
      name: jobConf.job_conf_name,
      job_type: 'SPARK_JOB',
      language: 'Python3',
      settings,
    },
    workflow_job_instance_id: nextId(),
    application_id: applicationId,
  });
  await rows.add('run_states', {
    run_state_id: nextId(),
    run_id: runId,
    sequence: 1,
    status: 'SUBMITTED',
    reason: `${text} reason`,
  });
  const notebooks = await insertNotebooks(into, conf);
  return {
    runId,
    notebooks,
    values: {
      ...workspace,
      ...secret,
      ...jobConf,
      ...notebooks.values,
      ...{ job_id: runId, job_application_id: applicationId },
      ...{ file_id: fileId, file_path: fileName, file_name: fileName },
    },
    jobConfs: {
      idle: await insertJobConf(into, conf),
      disabled: await insertJobConf(into, { ...conf, to_date: new Date() }),
    },
    disabled: disabled as unknown as WorkspaceRef,
    other: other as unknown as WorkspaceRef,
  };
}

async function insertJobConf(
  { nameOf, insert }: Inserting,
  values: { settings: object } & Record<string, unknown>,
): Promise<JobConfRef> {
  const name = nameOf('job_conf');
  const id = await insert('job_confs', 'job_conf_id', {
    name,
    ...rowOf('job_conf'),
    ...values,
  });
  return { job_conf_id: id, job_conf_name: name };
}

/** A notebook configuration with a waiting instance, one without any, and a disabled one. */
async function insertNotebooks(
  into: Inserting,
  conf: { settings: object; cluster_id: number; workspace_id: string | number | undefined },
) {
  const { rows, tenantId, text, insert, nextId } = into;
  const notebook = await insertNotebookConf(into, conf);
  const { notebook_conf_id: id, notebook_name: name } = notebook.ref;
  const runId = await insert('runs', 'run_id', {
    workspace_id: conf.workspace_id,
    kind: 'notebook',
    job_conf_id: id,
    cluster_id: conf.cluster_id,
    status: 'SUBMITTED',
    job_conf_snapshot: { job_conf_id: id, name, job_type: 'NOTEBOOK', language: 'Python3', settings: conf.settings },
    workflow_job_instance_id: nextId(),
    arguments: text,
  });
  await rows.add('kernels', { run_id: runId, tenant_id: tenantId, notebook_revision_id: notebook.revisionId });
  return {
    values: { ...notebook.ref, notebook_id: runId },
    confs: {
      idle: (await insertNotebookConf(into, conf)).ref,
      disabled: (await insertNotebookConf(into, { ...conf, to_date: new Date() })).ref,
    },
  };
}

/** Adds a notebook configuration whose notebook has one cell. */
async function insertNotebookConf(
  { rows, tenantId, text, blob, nameOf, insert }: Inserting,
  values: { settings: object; workspace_id: string | number | undefined } & Record<string, unknown>,
): Promise<{ ref: NotebookConfRef; revisionId: number }> {
  const name = nameOf('notebook');
  const path = `${name}.ipynb`;
  const of = { kind: 'notebook', job_type: 'NOTEBOOK', language: 'Python3', max_concurrency: 0 };
  const confId = await insert('job_confs', 'job_conf_id', { name, ...of, ...values });
  const fileId = await insert('workspace_files', 'workspace_file_id', {
    workspace_id: values.workspace_id,
    ...{ path, parent_path: '', name: path, is_dir: false },
    ...{ size_bytes: blob.size, sha256: blob.sha256, blob_key: blob.key },
  });
  const cell = { id: 'cell', cell_type: 'code', metadata: { note: text }, source: CELL_SOURCE };
  const document = JSON.stringify({ cells: [cell], metadata: {}, nbformat: 4, nbformat_minor: 5 });
  const revisionId = await insert('notebook_revisions', 'notebook_revision_id', {
    job_conf_id: confId,
    ...{ sha256: text, size_bytes: document.length, document, is_kept: true },
  });
  await rows.add('notebook_documents', {
    tenant_id: tenantId,
    job_conf_id: confId,
    ...{ workspace_file_id: fileId, notebook_revision_id: revisionId },
  });
  await rows.add('notebook_cells', { job_conf_id: confId, cell_uuid: 'cell', cell_type: 'code' });
  return { ref: { notebook_conf_id: confId, notebook_name: name }, revisionId };
}
