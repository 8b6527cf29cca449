import type { AnswerFields } from '../answer-fields';
import {
  type Authorship,
  type ColumnInfo,
  type FunctionInfo,
  MetastoreError,
  type SchemaInfo,
  type SchemaRef,
  type Table,
  type TableInfo,
  type TableRef,
} from '../metastore-client';

const UNKNOWN: Authorship = { owner: null, createdAt: null, createdBy: null, updatedAt: null, updatedBy: null };

export function readDatabase(database: AnswerFields, catalog: string | null): SchemaInfo {
  return {
    ...UNKNOWN,
    name: database.name('Name'),
    catalog,
    comment: database.text('Description'),
    createdAt: database.time('CreateTime'),
  };
}

export function readTableInfo(table: AnswerFields, { catalog, schema }: SchemaRef): TableInfo {
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

/** Throws {@link MetastoreError} if it is another table than the one asked for. */
export function readDescribed(table: AnswerFields, ref: TableRef): TableInfo {
  const info = readTableInfo(table, ref);
  // Glue keeps names in lower case and finds them by any.
  if (info.name.toLowerCase() !== ref.table.toLowerCase()) {
    throw new MetastoreError('failed', 'The metastore answers with another table.');
  }
  return info;
}

/** Throws like {@link readDescribed}. */
export function readTable(table: AnswerFields, ref: TableRef): Table {
  const storage = table.part('StorageDescriptor');
  const serde = storage.part('SerdeInfo');
  const properties = table.properties('Parameters');
  return {
    ...readDescribed(table, ref),
    // Spark's goes to the properties.
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

/** Glue knows the class of a function and nothing of its types. */
export function readFunction(routine: AnswerFields, { catalog, schema }: SchemaRef): FunctionInfo {
  return {
    ...UNKNOWN,
    catalog,
    schema,
    name: routine.name('FunctionName'),
    dataType: null,
    fullDataType: null,
    routineBody: 'EXTERNAL',
    routineDefinition: routine.text('ClassName'),
    parameterStyle: null,
    isDeterministic: false,
    sqlDataAccess: null,
    securityType: null,
    specificName: null,
    properties: null,
    metastoreId: null,
    functionId: null,
    owner: routine.text('OwnerName'),
    createdAt: routine.time('CreateTime'),
  };
}

function readColumn(column: AnswerFields): ColumnInfo {
  return { name: column.name('Name'), type: column.content('Type') ?? '', comment: column.text('Comment') };
}
