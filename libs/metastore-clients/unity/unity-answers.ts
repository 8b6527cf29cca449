import type { ResponseFields } from '../response-fields';
import { assertRequestedTable } from '../described-answers';
import type {
  Authorship,
  CatalogInfo,
  ColumnInfo,
  FunctionInfo,
  SchemaInfo,
  SchemaRef,
  Table,
  TableInfo,
  TableRef,
  VendedCredentials,
  VolumeInfo,
} from '../metastore-client';

interface UnityColumn extends ColumnInfo {
  /** Null for a column that is not a partition column. */
  partitionIndex: number | null;
}

export function readCatalog(catalog: ResponseFields): CatalogInfo {
  return {
    name: catalog.name('name'),
    comment: catalog.text('comment'),
    storageRoot: catalog.text('storage_root'),
    storageLocation: catalog.text('storage_location'),
    ...authorship(catalog),
  };
}

export function readSchema(schema: ResponseFields, catalog: string | null): SchemaInfo {
  return { name: schema.name('name'), catalog, comment: schema.text('comment'), ...authorship(schema) };
}

export function readTableInfo(table: ResponseFields, { catalog, schema }: SchemaRef): TableInfo {
  return { catalog, schema, name: table.name('name'), tableType: table.text('table_type'), ...authorship(table) };
}

/** Throws a `MetastoreError` if Unity returned another table than the requested one. */
export function readDescribed(table: ResponseFields, ref: TableRef): TableInfo {
  const info = readTableInfo(table, ref);
  assertRequestedTable(info.name, ref);
  return info;
}

/** Throws like {@link readDescribed}. */
export function readTable(table: ResponseFields, ref: TableRef): Table {
  const info = readDescribed(table, ref);
  const columns = inOrder(table.list('columns', 'column', readColumn), ({ position }) => position ?? null);
  const isPartition = ({ partitionIndex }: UnityColumn) => partitionIndex !== null;
  const partitions = inOrder(columns.filter(isPartition), ({ partitionIndex }) => partitionIndex);
  return {
    ...info,
    id: table.text('table_id'),
    comment: table.text('comment'),
    columns: columns.filter((column) => !isPartition(column)).map(columnInfo),
    partitionColumns: partitions.map(columnInfo),
    location: table.text('storage_location'),
    dataSourceFormat: table.text('data_source_format'),
    inputFormat: null,
    outputFormat: null,
    serde: null,
    serdeProperties: {},
    bucketColumns: [],
    sortColumns: [],
    buckets: 0,
    properties: table.properties('properties'),
    viewText: table.content('view_definition'),
  };
}

/** Returns null without credentials, as for a local directory, and for credentials of an unknown kind of store. */
export function readCredentials(answer: ResponseFields): VendedCredentials | null {
  const url = answer.text('url');
  const [aws, azure, google] = ['aws_temp_credentials', 'azure_user_delegation_sas', 'gcp_oauth_token'].map((field) =>
    answer.part(field),
  ) as [ResponseFields, ResponseFields, ResponseFields];
  const keyId = aws.text('access_key_id');
  if (keyId !== null) {
    const keys = { AWS_ACCESS_KEY_ID: keyId, AWS_SECRET_ACCESS_KEY: aws.text('secret_access_key') ?? '' };
    const session = aws.text('session_token');
    return { provider: 'aws', keys: { ...keys, ...(session === null ? {} : { AWS_SESSION_TOKEN: session }) }, url };
  }
  const sas = azure.text('sas_token');
  if (sas !== null) return { provider: 'azure', keys: { SAS_TOKEN: sas }, url };
  const token = google.text('oauth_token');
  return token === null ? null : { provider: 'gcp', keys: { OAUTH_TOKEN: token }, url };
}

export function readFunction(routine: ResponseFields, { catalog, schema }: SchemaRef): FunctionInfo {
  return {
    catalog,
    schema,
    name: routine.name('name'),
    dataType: routine.text('data_type'),
    fullDataType: routine.text('full_data_type'),
    routineBody: routine.text('routine_body'),
    routineDefinition: routine.content('routine_definition'),
    parameterStyle: routine.text('parameter_style'),
    isDeterministic: routine.flag('is_deterministic'),
    sqlDataAccess: routine.text('sql_data_access'),
    securityType: routine.text('security_type'),
    specificName: routine.text('specific_name'),
    properties: routine.text('properties'),
    metastoreId: routine.text('metastore_id'),
    functionId: routine.text('function_id'),
    ...authorship(routine),
  };
}

export function readVolume(volume: ResponseFields, { catalog, schema }: SchemaRef): VolumeInfo {
  return {
    catalog,
    schema,
    name: volume.name('name'),
    volumeType: volume.text('volume_type'),
    storageLocation: volume.text('storage_location'),
    comment: volume.text('comment'),
    volumeId: volume.text('volume_id'),
    metastoreId: volume.text('metastore_id'),
    ...authorship(volume),
  };
}

function readColumn(column: ResponseFields): UnityColumn {
  return {
    name: column.name('name'),
    type: column.content('type_text') ?? typeByName(column),
    comment: column.text('comment'),
    json: column.content('type_json'),
    nullable: column.flag('nullable', true),
    position: column.integer('position'),
    partitionIndex: column.integer('partition_index'),
  };
}

/** Returns the type of a column without `type_text`, which not every client sets. */
function typeByName(column: ResponseFields): string {
  const name = column.text('type_name')?.toLowerCase() ?? '';
  const precision = column.integer('type_precision') ?? 0;
  return name === 'decimal' && precision > 0 ? `decimal(${precision},${column.integer('type_scale') ?? 0})` : name;
}

function columnInfo({ partitionIndex: _index, ...column }: UnityColumn): ColumnInfo {
  return column;
}

/** Sorts columns by position; columns without one keep their order behind the others. */
function inOrder(columns: UnityColumn[], position: (column: UnityColumn) => number | null): UnityColumn[] {
  return [...columns].sort((one, other) => (position(one) ?? Infinity) - (position(other) ?? Infinity) || 0);
}

function authorship(record: ResponseFields): Authorship {
  return {
    owner: record.text('owner'),
    createdAt: record.time('created_at'),
    createdBy: record.text('created_by'),
    updatedAt: record.time('updated_at'),
    updatedBy: record.text('updated_by'),
  };
}
