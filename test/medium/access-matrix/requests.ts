import type { OpenAPIObject } from '@nestjs/swagger';
import { KINDS, operationName } from '../../samples';
import { hiveSite, unityDetails } from '../../samples/metastore-catalog';
import { REFERENCE } from '../../samples/reference';
import { LOGIN_NAME, PASSWORD } from './callers';
import { BILLED_ON, CELL_SOURCE, MARKS, PLAIN_KINDS, roleId, type Side, type TenantRecords } from './tenant-records';

interface Schema {
  $ref?: string;
  items?: Schema;
  anyOf?: Schema[];
  type?: string | string[];
  format?: string;
  enum?: (string | null)[];
  minimum?: number;
  minLength?: number;
  properties?: Record<string, Schema>;
  required?: string[];
}

interface Parameter {
  in: 'path' | 'query' | 'header';
  name: string;
  required?: boolean;
  schema: Schema;
}

/** An operation of the OpenAPI document, with the data that a request needs. */
export interface Operation {
  id: string;
  method: string;
  path: string;
  parameters: Parameter[];
  body:
    | { kind: 'none' }
    | { kind: 'binary'; type: string }
    /** A list of texts. */
    | { kind: 'texts' }
    | { kind: 'json'; properties: Record<string, Schema>; required: string[] };
  /** True if the document requires a body. */
  bodyIsRequired: boolean;
  /** True if the response is a page or an array of records. */
  isList: boolean;
  changes: boolean;
  /** The documented statuses. */
  statuses: number[];
}

/** A place in the request that names a tenant's record. */
export interface Address {
  in: 'path' | 'query' | 'body';
  name: string;
}

/** One form of an operation's request: it names some of the optional addresses. */
export interface RequestForm {
  name: string;
  addresses: Address[];
}

export interface BuiltRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: Buffer | string | undefined;
  /** Values that name records; an error may repeat them. */
  sent: string[];
}

/** Names of parameters whose record has another name in {@link TenantRecords}. */
const ALIASES: Record<string, string> = {
  credential_config_id: 'credentials_conf_id',
  cluster_ids: 'cluster_id',
  tenant_ids: 'tenant_id',
  exclude_cluster_id: 'cluster_id',
  mount_ids: 'mount_id',
  job_conf_ids: 'job_conf_id',
  run_id: 'job_id',
  notebook_conf_ids: 'notebook_conf_id',
  user_ids: 'user_id',
  group_ids: 'group_id',
  source_file_id: 'file_id',
  source_file_path: 'file_path',
};

/** Owners of secrets that are attached to metastore catalogs. */
const CATALOG_SECRET_SCOPES = ['tenant', 'workspace', 'user'] as const;

/** Names of parameters and body fields that name a tenant's record. */
const ADDRESS_NAMES: ReadonlySet<string> = new Set([
  ...KINDS.flatMap(([kind, { nameField }]) => [`${kind}_id`, ...(nameField ? [] : [`${kind}_name`])]),
  ...['tenant_id', 'tenant_ids', 'tenant_name', 'username', 'groupname', 'user_ids', 'group_ids'],
  ...['credentials_config_id', 'exclude_cluster_id', 'mount_ids'],
  ...['credential_config_id', 'cluster_ids', 'job_conf_ids', 'job_id', 'run_id', 'node_status_id', 'token_id'],
  ...CATALOG_SECRET_SCOPES.flatMap((scope) => [
    ...[`metastore_catalog_secret_${scope}_id`, `metastore_secrets_${scope}_id`],
    `object_storage_secrets_${scope}_id`,
  ]),
  ...['notebook_conf_id', 'notebook_name', 'notebook_id', 'notebook_conf_ids'],
  ...['file_id', 'file_path', 'file_name', 'source_file_id', 'source_file_path', 'job_application_id'],
]);

/** Ids that name no record of a tenant. */
const OTHER_IDS = [
  ...['created_by_ids', 'modified_by_ids', 'machine_type_ids', 'spark_infra_version_ids'],
  ...['aws_access_key_id', 'client_id', 'private_key_id', 'project_id', 'subscription_id'],
  ...['encryption_type_id', 'network_project_id', 'correlation_id', 'last_event_id'],
  // It is compared with the revision of the notebook that the address names.
  'revision_id',
];

/** Returns the ids in the operation's request that these tables do not explain. */
export function unknownIds({ parameters, body }: Operation): string[] {
  const names = [...parameters.map(({ name }) => name), ...(body.kind === 'json' ? Object.keys(body.properties) : [])];
  const isKnown = (name: string) =>
    ADDRESS_NAMES.has(name) || name in CONSTANTS || name in LEARNED_FROM || OTHER_IDS.includes(name);
  return names.filter((name) => /_ids?$/.test(name) && !isKnown(name));
}

/** Operations whose bodies hold values of other systems, some of which have the names of addresses. */
const TAKES_SECRET = /^(create|update)(Tenant|Workspace|User)Secret$/;

/** Pairs of parameters: a request names one to select a record, and lists take both as optional filters. */
const FILTERS_OF_LISTS = [
  'metastore_catalog',
  'cluster_conf',
  'job_conf',
  'notebook_conf',
  'file',
  'user',
  'group',
  'tenant',
];

/** Values of parameters and body fields that name no tenant's record: reference data and invented values. */
const CONSTANTS: Record<string, unknown> = {
  ...REFERENCE,
  availability_zone_id: 0,
  permission_id: 1,
  role_id: roleId('CAN MANAGE CLUSTER'),
  role_ids: [roleId('CAN MANAGE CLUSTER')],
  timeout: '1h',
  // The period in which the records have usage.
  ...Object.fromEntries(
    ['start_date', 'end_date', 'start_month_year', 'end_month_year'].map((day) => [day, BILLED_ON]),
  ),
  description: 'changed',
  current_password: PASSWORD,
  new_password: 'another long password',
  password: PASSWORD,
};

/** Values whose validation would call a forbidden server, which is a 400. */
const VALIDATED = {
  secret: { secret_details: { secret_type: 'DATABRICKS UNITY TOKEN', token: 'any' } },
  metastore: { metastore_details: { endpoint: 'http://169.254.169.254' } },
};

/** Values that an operation needs besides the generated request, in the body or as a parameter. */
const MORE: Record<string, Record<string, unknown>> = {
  ...Object.fromEntries(KINDS.flatMap(requestsOfSample)),
  createHiveCatalog: { hiveSiteXml: hiveSite() },
  createUnityCatalog: unityDetails,
  // The outbound policy forbids this server.
  fetchUnityCatalogs: { endpoint: 'http://169.254.169.254' },
  ...Object.fromEntries(['Tenant', 'Workspace', 'User'].map((scope) => [`validate${scope}Secret`, VALIDATED])),
  listOnPremNodeResources: { endpoint: 'local://' },
  // The records hold these permissions.
  revokeWorkspaceUserPermission: { permission_id: 0 },
  revokeWorkspaceGroupPermission: { permission_id: 0 },
  renameWorkspaceFile: { file_name: 'renamed' },
  // The operation looks for the cluster of the job configuration.
  importWorkspace: {
    workspace: {},
    spark_job_confs: [{ name: 'imported', job_type: 'Python3', command: 'job.py' }],
  },
  updateNotebookConf: { driver_memory: '1g' },
  resizeCluster: { max_instances: 5 },
  updateNotebookCells: {
    cells: [{ cell_uuid: 'cell', code: CELL_SOURCE, output: [{ type: 'text', Celloutput: 'done' }] }],
  },
  // The zone belongs to this provider.
  getProviderAvailabilityZone: { cloud_provider_id: 0 },
  // A stream has no end, so this one is refused; test/attacks/events looks at what is in it.
  streamEvents: { last_event_id: 'none' },
  listCosts: { from: BILLED_ON, until: BILLED_ON },
  listCostIntervals: { from: BILLED_ON, until: BILLED_ON },
  login: { username: LOGIN_NAME, password: PASSWORD },
  ...Object.fromEntries(
    [
      ...['removeUserRole', 'removeGroupRole', 'removeTenantUserRole', 'removeTenantGroupRole'],
      ...['listAdminRoleUsers', 'listAdminRoleGroups', 'listTenantRoleUsers', 'listTenantRoleGroups'],
    ].map((id) => [id, { role_id: roleId('USER') }]),
  ),
};

/** Returns the requests that create and change a record, by operation id: the sample without its references. */
function requestsOfSample([kind, { body, change }]: (typeof KINDS)[number]): [string, Record<string, unknown>][] {
  const own = Object.entries(body({})).filter(([name]) => !ADDRESS_NAMES.has(name));
  return [
    [`create${operationName(kind)}`, Object.fromEntries(own)],
    [`update${operationName(kind)}`, { ...change }],
  ];
}

/** Each type of metastore catalog has operations of its own. */
const CATALOG_TYPES = ['Hive', 'Glue', 'Unity'] as const;

/** Parameters with the name of a record that are ignored. */
const IGNORED: Record<string, string> = { updateNotebookCells: 'run_id' };

/** Body fields with the name of a record that does not exist yet. */
const NEW_NAMES: Record<string, string> = {
  ...Object.fromEntries(KINDS.map(([kind, { nameField = 'name' }]) => [`create${operationName(kind)}`, nameField])),
  createNotebookConf: 'notebook_name',
  // The record is selected by its id only, because the body has a field with the same name.
  updateNotebookConf: 'notebook_name',
};

/** Optional parameters and body fields without which the generated request is invalid. */
const ALWAYS_GIVEN: Record<string, string> = {
  listClusterMounts: 'cluster_id',
  updateNotebookConf: 'notebook_conf_id',
  assignTenantUserRole: 'tenant_id',
  assignTenantGroupRole: 'tenant_id',
  removeTenantUserRole: 'tenant_id',
  removeTenantGroupRole: 'tenant_id',
  listWorkspaceCatalogSecrets: 'workspace_id',
  ...Object.fromEntries(
    CATALOG_SECRET_SCOPES.flatMap((scope) =>
      ['attach', 'update'].map((change) => [
        `${change}${operationName(scope)}CatalogSecret`,
        `metastore_secrets_${scope}_id`,
      ]),
    ),
  ),
};

/** Records in the state that an operation needs, instead of the usual one. */
const INSTEAD: Record<string, (records: TenantRecords) => object> = {
  startCluster: ({ clusters }) => clusters.stopped,
  updateCluster: ({ clusters }) => clusters.destroyed,
  disableCluster: ({ clusters }) => clusters.destroyed,
  enableCluster: ({ clusters }) => clusters.disabled,
  createObjectStorageManager: ({ storeCredentials }) => storeCredentials,
  updateObjectStorageManager: ({ unused, storeCredentials }) => ({ ...unused, ...storeCredentials }),
  deleteObjectStorageManager: ({ unused }) => unused,
  enableWorkspace: ({ disabledWorkspace }) => disabledWorkspace,
  ...Object.fromEntries(
    CATALOG_TYPES.flatMap((type) =>
      ['update', 'delete'].map((change) => [
        `${change}${type}Catalog`,
        (records: TenantRecords) => records.catalogs[type],
      ]),
    ),
  ),
  ...Object.fromEntries(
    CATALOG_SECRET_SCOPES.map((scope) => [
      `attach${operationName(scope)}CatalogSecret`,
      ({ catalogs }: TenantRecords) => catalogs.Hive,
    ]),
  ),
  ...Object.fromEntries(
    CATALOG_SECRET_SCOPES.map((scope) => [
      `list${operationName(scope)}CatalogSecrets`,
      ({ openedCatalog }: TenantRecords) => openedCatalog,
    ]),
  ),
  associateClusterWorkspace: ({ clusters }) => clusters.stopped,
  deleteJobConf: ({ jobConfs }) => jobConfs.idle,
  enableJobConf: ({ jobConfs }) => jobConfs.disabled,
  deleteNotebookConf: ({ notebookConfs }) => notebookConfs.idle,
  enableNotebookConf: ({ notebookConfs }) => notebookConfs.disabled,
  ...Object.fromEntries(
    ['listObjectStorageFiles', 'searchObjectStorageFiles', 'getObjectStorageFile', 'deleteObjectStorageFile']
      .concat('downloadObjectStorageFile')
      .map((id) => [id, ({ storageFile }: TenantRecords) => storageFile]),
  ),
  ...Object.fromEntries(
    [...PLAIN_KINDS, 'mount']
      .map(operationName)
      .flatMap((kind) => [`update${kind}`, `delete${kind}`].map((id) => [id, ({ unused }: TenantRecords) => unused])),
  ),
};

/** The same, but only for requests that must succeed: in all others, the usual record is enough. */
const INSTEAD_TO_SUCCEED: Record<string, (records: TenantRecords) => object> = {
  deleteTenant: ({ unused }) => unused,
  deleteGroup: ({ unused }) => unused,
  addGroupMember: ({ unused }) => ({ user_id: unused['user_id'] }),
  enableUser: ({ disabledUser }) => disabledUser,
};

/** Reads the operations from the document. */
export function operationsOf(document: OpenAPIObject): Operation[] {
  const schemas = (document.components?.schemas ?? {}) as Record<string, Schema>;
  const resolve = (schema: Schema): Schema =>
    schema.$ref ? (schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}) : schema;
  /** Shows the values of an enumeration, which the document has elsewhere, at each of its uses. */
  const listed = (schema: Schema): Schema => {
    if (schema.items) return { ...schema, items: listed(schema.items) };
    const { enum: values, type } = resolve(schema.anyOf?.[0] ?? schema);
    return values ? { ...schema, type, enum: values } : schema;
  };
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, described]) => {
      const { operationId, parameters = [], requestBody, responses } = described as DescribedOperation;
      const content = requestBody?.content ?? {};
      const json = content['application/json'] && resolve(content['application/json'].schema);
      return {
        id: operationId,
        method: method.toUpperCase(),
        path: `/api/v1${path}`,
        parameters: parameters.map((one) => ({ ...one, schema: listed(one.schema) })),
        body: json?.properties
          ? { kind: 'json', properties: mapValues(json.properties, listed), required: json.required ?? [] }
          : bodyWithoutFields(json, Object.keys(content)[0]),
        bodyIsRequired: requestBody?.required === true,
        isList: isListAnswer(responses, resolve),
        changes: method !== 'get',
        statuses: Object.keys(responses).map(Number),
      };
    }),
  );
}

function mapValues<T>(entries: Record<string, T>, change: (value: T) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(entries).map(([key, value]) => [key, change(value)]));
}

function bodyWithoutFields(json: Schema | undefined, type: string | undefined): Operation['body'] {
  if (json?.type === 'array') return { kind: 'texts' };
  return type === undefined ? { kind: 'none' } : { kind: 'binary', type };
}

interface DescribedOperation {
  operationId: string;
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: Record<string, { schema: Schema }> };
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>;
}

function isListAnswer(responses: DescribedOperation['responses'], resolve: (schema: Schema) => Schema): boolean {
  const [success] = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  const schema = success?.[1].content?.['application/json']?.schema;
  if (!schema) return false;
  const { type, properties } = resolve(schema);
  return type === 'array' || properties?.['result_set'] !== undefined;
}

/**
 * Returns the forms of an operation's request. A record that is selected by id or name has a form for each; every further
 * optional reference has a form of its own.
 */
export function formsOf(operation: Operation): RequestForm[] {
  const given = addressable(operation);
  const required = given.filter(({ required }) => required);
  const optional = given.filter(({ required }) => !required);
  const paired = optional.filter((address) => partnerOf(address, optional));
  const selectors = [...new Set(paired.map(({ name }) => prefixOf(name)))].filter(
    (prefix) => !(operation.isList && FILTERS_OF_LISTS.includes(prefix)),
  );
  const chosen = (kind: 'id' | 'other') =>
    paired.filter(({ name }) => selectors.includes(prefixOf(name)) && name.endsWith('_id') === (kind === 'id'));
  const forms: RequestForm[] = [
    { name: selectors.length > 0 ? 'by id' : 'plain', addresses: [...required, ...chosen('id')] },
  ];
  if (selectors.length > 0) forms.push({ name: 'by name', addresses: [...required, ...chosen('other')] });
  const further = optional.filter(
    (address) => !(paired.includes(address) && selectors.includes(prefixOf(address.name))),
  );
  for (const address of further) {
    forms.push({ name: `with ${address.name}`, addresses: [...required, ...chosen('id'), address] });
  }
  return forms;
}

interface GivenAddress extends Address {
  required: boolean;
}

function addressable({ id, parameters, body }: Operation): GivenAddress[] {
  const inBody = (body.kind === 'json' ? Object.keys(body.properties) : []).filter(
    (name) => !(TAKES_SECRET.test(id) && ADDRESS_NAMES.has(name)),
  );
  const fields = inBody.map((name) => ({
    in: 'body' as const,
    name,
    required: body.kind === 'json' && (body.required.includes(name) || ALWAYS_GIVEN[id] === name),
  }));
  const others = parameters.flatMap(({ in: place, name, required = false }) =>
    place === 'header' ? [] : [{ in: place, name, required: required || ALWAYS_GIVEN[id] === name }],
  );
  const isFixed = (name: string) => MORE[id]?.[name] !== undefined || NEW_NAMES[id] === name || IGNORED[id] === name;
  return [...others, ...fields].filter(({ name }) => ADDRESS_NAMES.has(name) && !isFixed(name));
}

function prefixOf(name: string): string {
  return name.replace(/^notebook_name$/, 'notebook_conf_name').replace(/_(id|name|path)$/, '');
}

function partnerOf(address: GivenAddress, all: readonly GivenAddress[]): GivenAddress | undefined {
  return all.find(({ name }) => name !== address.name && prefixOf(name) === prefixOf(address.name));
}

let made = 0;

/** The sources of a request's values. */
export interface RequestValues {
  caller: Side;
  /** Returns the records of the tenant that an address names. */
  recordsFor: (address: Address) => TenantRecords;
  /** Ids that the running API derives from its own declarations. */
  learned: Readonly<Record<string, unknown>>;
  /** Set if the request must succeed: the caller's own records. All records are then in the state that the operation needs. */
  toSucceed: Readonly<Record<string, unknown>> | null;
}

/** Ids that are learned from the first record of a list. */
export const LEARNED_FROM: Record<string, string> = { resource_id: 'listResources', rule_id: 'listRules' };

/** Builds the request of a form. */
export function buildRequest(operation: Operation, form: RequestForm, values: RequestValues): BuiltRequest {
  const sent: string[] = [];
  const valueAt = (place: Address['in'], name: string): unknown => {
    const address = form.addresses.find((candidate) => candidate.in === place && candidate.name === name);
    if (!address) return undefined;
    const value = recordValue(operation.id, values.recordsFor(address), name, values.toSucceed);
    sent.push(String(value));
    return name.endsWith('_ids') && place === 'body' ? [value] : value;
  };
  made += 1;
  const invented = (name: string, schema: Schema) =>
    values.learned[name] ?? inventValue(operation.id, name, schema, values.caller);
  let path = operation.path;
  const query = new URLSearchParams();
  for (const { in: place, name, required, schema } of operation.parameters) {
    if (place === 'header') continue;
    const value =
      valueAt(place, name) ?? (required || name in (MORE[operation.id] ?? {}) ? invented(name, schema) : undefined);
    if (value === undefined) continue;
    if (place === 'path') path = path.replace(`{${name}}`, encodeURIComponent(text(value)));
    else query.set(name, text(value));
  }
  return {
    method: operation.method,
    path: query.size > 0 ? `${path}?${query.toString()}` : path,
    ...bodyOf(operation, (name) => valueAt('body', name), invented),
    sent,
  };
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function recordValue(
  operationId: string,
  records: TenantRecords,
  name: string,
  toSucceed: RequestValues['toSucceed'],
): string | number {
  const key = ALIASES[name] ?? name;
  const instead = {
    ...INSTEAD[operationId]?.(records),
    ...(toSucceed ? INSTEAD_TO_SUCCEED[operationId]?.(records) : {}),
    ...toSucceed,
  } as Record<string, string | number>;
  const value = instead[key] ?? records.values[key];
  if (value === undefined) throw new Error(`tenant-records.ts makes no record for ${name} of ${operationId}`);
  return value;
}

function bodyOf(
  { id, body }: Operation,
  addressed: (name: string) => unknown,
  invented: (name: string, schema: Schema) => unknown,
): Pick<BuiltRequest, 'headers' | 'body'> {
  if (body.kind === 'none') return { headers: {}, body: undefined };
  if (body.kind === 'texts') {
    return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(['schema.table']) };
  }
  if (body.kind === 'binary') {
    return { headers: { 'content-type': body.type }, body: Buffer.from('bytes') };
  }
  const values: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(body.properties)) {
    const value = addressed(name) ?? (body.required.includes(name) ? invented(name, schema) : undefined);
    if (value !== undefined) values[name] = value;
  }
  Object.assign(values, MORE[id]);
  // An update needs at least one field.
  if (Object.keys(values).length === 0 && body.properties['description']) values['description'] = 'changed';
  return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(values) };
}

/** Returns a plain value that fits the schema. Names are unique and carry the mark of the caller's side. */
function inventValue(operationId: string, name: string, schema: Schema, caller: Side): unknown {
  const own = MORE[operationId]?.[name] ?? CONSTANTS[name];
  if (own !== undefined) return own;
  if (schema.enum) return schema.enum[0];
  if (schema.format === 'email') return `${MARKS[caller].text}-new-${made}@example.org`;
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === 'integer' || type === 'number') return schema.minimum ?? 1;
  return PLAIN[type ?? ''] ?? `${MARKS[caller].text}-new-${made}`;
}

const PLAIN: Record<string, unknown> = { boolean: false, array: [], object: {} };
