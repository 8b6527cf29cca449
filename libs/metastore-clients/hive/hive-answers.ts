import { CLASS_FUNCTION, NO_AUTHORSHIP } from '../described-answers';
import type { FunctionInfo, SchemaInfo, Table, TableInfo } from '../metastore-client';
import {
  type HiveDatabase,
  type HiveFieldSchema,
  type HiveFunction,
  type HiveStorageDescriptor,
  type HiveTable,
  SERDE_INFO,
  STORAGE_DESCRIPTOR,
} from './hive-thrift';

export function schemaOf(name: string, database: HiveDatabase | null): SchemaInfo {
  const { description = null, ownerName = null } = database ?? {};
  return { ...NO_AUTHORSHIP, name, catalog: null, comment: text(description), owner: text(ownerName) };
}

/** Returns a table of which only the name is known. Spreading {@link NO_AUTHORSHIP} would take 20 ms more for 10,000. */
export function namedTable(schema: string, name: string): TableInfo {
  return {
    name,
    catalog: null,
    schema,
    tableType: null,
    owner: null,
    createdAt: null,
    createdBy: null,
    updatedAt: null,
    updatedBy: null,
  };
}

/** @param schema the requested schema, with the case of the request */
export function tableInfoOf(schema: string, table: HiveTable): TableInfo {
  const { tableName, tableType, owner, createTime } = table;
  const parameters = table.parameters ?? {};
  return {
    name: tableName ?? '',
    catalog: null,
    schema,
    tableType: text(tableType),
    owner: text(owner),
    createdAt: milliseconds(createTime),
    createdBy: null,
    // Hive records changes by users; for Spark there is only the time of the last DDL statement.
    updatedAt: milliseconds(Number(parameters['last_modified_time'] ?? parameters['transient_lastDdlTime'])),
    updatedBy: text(parameters['last_modified_by']),
  };
}

export function tableOf(schema: string, table: HiveTable): Table {
  const properties = table.parameters ?? {};
  return {
    ...tableInfoOf(schema, table),
    ...storageOf(table.sd),
    comment: text(properties['comment']),
    partitionColumns: columnsOf(table.partitionKeys),
    dataSourceFormat: null,
    properties,
    viewText: text(table.viewOriginalText),
  };
}

type Storage = Pick<Table, 'columns' | 'location' | 'inputFormat' | 'outputFormat' | 'serde' | 'serdeProperties'> &
  Pick<Table, 'bucketColumns' | 'sortColumns' | 'buckets'>;

function storageOf(sd: HiveStorageDescriptor | null): Storage {
  const { serializationLib, parameters } = sd?.serdeInfo ?? SERDE_INFO.none;
  const { cols, location, inputFormat, outputFormat, bucketCols, sortCols, numBuckets } = sd ?? STORAGE_DESCRIPTOR.none;
  return {
    columns: columnsOf(cols),
    location: text(location),
    inputFormat: text(inputFormat),
    outputFormat: text(outputFormat),
    serde: text(serializationLib),
    serdeProperties: parameters ?? {},
    bucketColumns: bucketCols ?? [],
    sortColumns: (sortCols ?? []).map(({ col, order }) => ({ name: col ?? '', ascending: order !== 0 })),
    buckets: numBuckets ?? 0,
  };
}

/** @param schema the requested schema, with the case of the request */
export function functionOf(schema: string, hiveFunction: HiveFunction): FunctionInfo {
  const { functionName, className, ownerName, createTime } = hiveFunction;
  return {
    ...CLASS_FUNCTION,
    name: functionName ?? '',
    catalog: null,
    schema,
    owner: text(ownerName),
    createdAt: milliseconds(createTime),
    // A Java class in a JAR that Hive knows.
    routineDefinition: text(className),
  };
}

function columnsOf(columns: HiveFieldSchema[] | null | undefined): Table['columns'] {
  return (columns ?? []).map(({ name, type, comment }) => ({
    name: name ?? '',
    type: type ?? '',
    comment: text(comment),
  }));
}

/** Returns null for an empty text, which Hive does not distinguish from none. */
function text(value: string | null | undefined): string | null {
  return value ? value : null;
}

/** @param seconds since the epoch; null, zero and NaN are an unknown time */
function milliseconds(seconds: number | null): number | null {
  return seconds && Number.isSafeInteger(seconds * 1000) ? seconds * 1000 : null;
}
