import type { ResponseFields } from '../response-fields';
import { assertRequestedTable, CLASS_FUNCTION, NO_AUTHORSHIP } from '../described-answers';
import type { ColumnInfo, FunctionInfo, SchemaInfo, SchemaRef, Table, TableInfo, TableRef } from '../metastore-client';

export function readDatabase(database: ResponseFields, catalog: string | null): SchemaInfo {
  return {
    ...NO_AUTHORSHIP,
    name: database.name('Name'),
    catalog,
    comment: database.text('Description'),
    createdAt: database.time('CreateTime'),
  };
}

export function readTableInfo(table: ResponseFields, { catalog, schema }: SchemaRef): TableInfo {
  return {
    catalog,
    schema,
    name: table.name('Name'),
    tableType: table.text('TableType'),
    owner: table.text('Owner'),
    createdAt: table.time('CreateTime'),
    createdBy: table.text('CreatedBy'),
    updatedAt: table.time('UpdateTime'),
    updatedBy: null,
  };
}

/** Throws a `MetastoreError` if Glue returned another table than the requested one. */
export function readDescribed(table: ResponseFields, ref: TableRef): TableInfo {
  const info = readTableInfo(table, ref);
  assertRequestedTable(info.name, ref);
  return info;
}

/** Throws like {@link readDescribed}. */
export function readTable(table: ResponseFields, ref: TableRef): Table {
  const storage = table.part('StorageDescriptor');
  const serde = storage.part('SerdeInfo');
  const properties = table.properties('Parameters');
  return {
    ...readDescribed(table, ref),
    // Spark stores its comment in the properties.
    comment: table.text('Description') ?? properties['comment'] ?? null,
    columns: storage.list('Columns', 'column', readColumn),
    partitionColumns: table.list('PartitionKeys', 'column', readColumn),
    location: storage.text('Location'),
    dataSourceFormat: null,
    inputFormat: storage.text('InputFormat'),
    outputFormat: storage.text('OutputFormat'),
    serde: serde.text('SerializationLibrary'),
    serdeProperties: serde.properties('Parameters'),
    bucketColumns: storage.names('BucketColumns'),
    sortColumns: storage.list('SortColumns', 'sort column', (order) => ({
      name: order.name('Column'),
      ascending: order.integer('SortOrder') === 1,
    })),
    buckets: storage.integer('NumberOfBuckets') ?? 0,
    properties,
    viewText: table.content('ViewOriginalText'),
  };
}

/** Glue stores only the class of a function, not its types. */
export function readFunction(routine: ResponseFields, { catalog, schema }: SchemaRef): FunctionInfo {
  return {
    ...CLASS_FUNCTION,
    catalog,
    schema,
    name: routine.name('FunctionName'),
    routineDefinition: routine.text('ClassName'),
    owner: routine.text('OwnerName'),
    createdAt: routine.time('CreateTime'),
  };
}

function readColumn(column: ResponseFields): ColumnInfo {
  return { name: column.name('Name'), type: column.content('Type') ?? '', comment: column.text('Comment') };
}
