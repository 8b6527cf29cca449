import { isInStore } from '../object-storage/store-uri';
import type { ColumnInfo, Table } from '../metastore-clients/metastore-client';
import { typeName, typeText, type DataType } from './data-type';
import { readDeltaTable } from './delta-log';
import { readIcebergTable } from './iceberg-metadata';
import { parseColumnJson, type SchemaColumn } from './schema-json';
import { type Bucketing, SparkProperties } from './spark-properties';
import { identities, type PartitionTransform, plainColumn, type TableColumns, type TableKind } from './table-columns';
import type { TableFiles } from './table-files';
import { keptProperties } from './table-properties';
import { excerpt, TableSchemaError } from './table-schema-error';
import { parseTypeText } from './type-text';

/**
 * Returns the columns of a table or view and everything else that its DDL needs, from the metastore and, for Delta and
 * Iceberg, from the table's own files. `files` is null if no secret opens them. Reads bounded numbers of files and bytes
 * until `signal` aborts. Throws {@link TableSchemaError}, and the errors of `files`.
 *
 * Delta commits that a commit coordinator has not yet written to the log are not visible.
 */
export async function columnsOf(table: Table, files: TableFiles | null, signal: AbortSignal): Promise<TableColumns> {
  switch (kindOf(table)) {
    case 'delta':
      return deltaColumns(table, files, signal);
    case 'iceberg':
      return icebergColumns(table, files, signal);
    case 'spark':
      return sparkColumns(table);
    case 'hive':
      return hiveColumns(table);
    case 'view':
      return viewColumns(table);
  }
}

export function kindOf(table: Table): TableKind {
  if (table.tableType?.toUpperCase().includes('VIEW')) return 'view';
  const provider = providerOf(table);
  const type = table.properties['table_type']?.toLowerCase();
  if (type === 'iceberg' || provider === 'iceberg') return 'iceberg';
  if (type === 'delta' || provider === 'delta') return 'delta';
  return provider === null || provider === 'hive' ? 'hive' : 'spark';
}

/** True if only the table's own files hold its columns. */
export function areInFiles(table: Table): boolean {
  const kind = kindOf(table);
  return (kind === 'delta' || kind === 'iceberg') && !isKnownToUnity(table);
}

/** Returns the location of a table's files; Spark stores it as an option of the data source. */
export function locationOf(table: Table): string | null {
  const path = new SparkProperties(table.properties).provider === null ? undefined : table.serdeProperties['path'];
  return path ?? table.location;
}

function providerOf(table: Table): string | null {
  const fromSpark = new SparkProperties(table.properties).provider;
  // Hive and Glue name a format by its classes. Hive's own DDL then says more than a provider's name.
  return fromSpark ?? (table.inputFormat === null ? (table.dataSourceFormat?.toLowerCase() ?? null) : null);
}

async function deltaColumns(table: Table, files: TableFiles | null, signal: AbortSignal): Promise<TableColumns> {
  if (!areInFiles(table)) return fromMetastore(table, 'delta');
  const location = locationOf(table);
  if (location === null) throw new TableSchemaError('missing', 'The metastore has no location for the Delta table.');
  const delta = await readDeltaTable(location, requiredFiles(files, location), signal);
  return tableColumns({
    kind: 'delta',
    provider: 'delta',
    columns: delta.columns,
    partitioning: identities(delta.partitionColumns),
    properties: keptProperties(delta.configuration, 'delta'),
    comment: delta.description ?? table.comment,
  });
}

async function icebergColumns(table: Table, files: TableFiles | null, signal: AbortSignal): Promise<TableColumns> {
  if (!areInFiles(table)) return fromMetastore(table, 'iceberg');
  const uri = table.properties['metadata_location'];
  if (!uri)
    throw new TableSchemaError('missing', 'The metastore has no property metadata_location for the Iceberg table.');
  const iceberg = await readIcebergTable(uri, requiredFiles(files, uri), signal);
  const { columns, partitioning, properties } = iceberg;
  return tableColumns({
    kind: 'iceberg',
    provider: 'iceberg',
    columns,
    partitioning,
    properties: keptProperties(properties, 'iceberg'),
    comment: properties['comment'] ?? table.comment,
  });
}

function requiredFiles(files: TableFiles | null, location: string): TableFiles {
  if (files) return files;
  const remedy = isInStore(location)
    ? 'in an object store. Attach an object storage secret to the catalog.'
    : `at ${excerpt(location)}, which only nodes of clusters can reach. Run DESCRIBE TABLE on a cluster instead.`;
  throw new TableSchemaError('missing', `The columns of this table are only in its own files, ${remedy}`);
}

/**
 * Unity stores the columns of most tables; Hive and Glue, whose tables name no catalog, store none of these. Unity's columns are
 * used even though its open-source server does not learn of later changes: all clients of Unity see them, and no files are needed.
 */
function isKnownToUnity({ catalog, columns, partitionColumns }: Table): boolean {
  return catalog !== null && columns.length + partitionColumns.length > 0;
}

function sparkColumns(table: Table): TableColumns {
  const spark = new SparkProperties(table.properties);
  const columns = spark.schema();
  const provider = providerOf(table);
  if (!columns || !provider) return fromMetastore(table, 'spark');
  return tableColumns({
    kind: 'spark',
    provider,
    columns,
    partitioning: identities(spark.partitionColumns()),
    bucketing: spark.bucketing(),
    properties: keptProperties(table.properties, 'spark'),
    options: optionsOf(table),
    comment: table.comment,
  });
}

function fromMetastore(table: Table, kind: 'spark' | 'delta' | 'iceberg'): TableColumns {
  return tableColumns({
    kind,
    provider: providerOf(table) ?? kind,
    columns: metastoreColumns(table),
    partitioning: identities(table.partitionColumns.map(({ name }) => name)),
    properties: keptProperties(table.properties, kind),
    options: kind === 'spark' ? optionsOf(table) : {},
    comment: table.comment,
  });
}

/**
 * Spark stores its own schema with a Hive table, with upper case and NOT NULL. As in Spark, it is used only if Hive has the
 * same columns: Hive may have changed them since.
 */
function hiveColumns(table: Table): TableColumns {
  const spark = new SparkProperties(table.properties);
  const inHive = metastoreColumns(table);
  const columns = spark.schema();
  const isCurrent = columns !== null && sameColumns(columns, inHive);
  const partitions = table.partitionColumns.map(({ name }) => name);
  return tableColumns({
    kind: 'hive',
    provider: null,
    columns: isCurrent ? columns : inHive,
    partitioning: identities(
      isCurrent ? columns.slice(inHive.length - partitions.length).map(({ name }) => name) : partitions,
    ),
    bucketing: (isCurrent ? spark.bucketing() : null) ?? hiveBucketing(table),
    properties: keptProperties(table.properties, 'hive'),
    comment: table.comment,
  });
}

function viewColumns(table: Table): TableColumns {
  return tableColumns({
    kind: 'view',
    provider: null,
    columns: new SparkProperties(table.properties).schema() ?? metastoreColumns(table),
    partitioning: [],
    properties: keptProperties(table.properties, 'view'),
    comment: table.comment,
  });
}

function metastoreColumns({ columns, partitionColumns }: Table): SchemaColumn[] {
  const positionOf = ({ position }: ColumnInfo) => position ?? Infinity;
  // Columns without a position keep their order.
  const inOrder = [...columns, ...partitionColumns].sort((one, other) => positionOf(one) - positionOf(other) || 0);
  return inOrder.map(metastoreColumn);
}

function metastoreColumn({ name, type, comment, json, nullable = true }: ColumnInfo): SchemaColumn {
  const parsed = (json ?? null) === null ? null : orNull(() => parseColumnJson(json!, name));
  const column = parsed?.type.kind === 'foreign' ? null : parsed;
  if (column === null) return { ...plainColumn(name, readable(type), comment), nullable };
  return { ...column, comment: comment ?? column.comment, nullable: nullable && column.nullable };
}

/** Shows a malformed type as it is: one bad column must not hide the others. */
function readable(text: string): DataType {
  return orNull(() => parseTypeText(text)) ?? { kind: 'foreign', text };
}

/** Returns null if `read` fails with `malformed`. */
function orNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof TableSchemaError && error.fault === 'malformed') return null;
    throw error;
  }
}

function sameColumns(some: readonly SchemaColumn[], others: readonly SchemaColumn[]): boolean {
  const text = ({ name, type }: SchemaColumn) => `${name} ${typeText(type)}`.toLowerCase();
  return some.length === others.length && some.every((column, at) => text(column) === text(others[at]!));
}

/** As in Spark, which sorts in ascending order only, a table with another order counts as unsorted. */
function hiveBucketing({ buckets, bucketColumns, sortColumns }: Table): Bucketing | null {
  if (buckets <= 0 || bucketColumns.length === 0) return null;
  const isSorted = sortColumns.every(({ ascending }) => ascending);
  return { columns: bucketColumns, sortColumns: isSorted ? sortColumns.map(({ name }) => name) : [], buckets };
}

function optionsOf({ serdeProperties }: Table): Record<string, string> {
  const { path: _path, 'serialization.format': _format, ...options } = serdeProperties;
  return options;
}

interface TableColumnsInput {
  kind: TableKind;
  provider: string | null;
  columns: SchemaColumn[];
  partitioning: PartitionTransform[];
  bucketing?: Bucketing | null;
  properties: Record<string, string>;
  options?: Record<string, string>;
  comment: string | null;
}

function tableColumns({ columns, bucketing = null, options = {}, ...input }: TableColumnsInput): TableColumns {
  const partitions = new Set(
    input.partitioning.flatMap(({ transform, columns: [path = []] }) =>
      transform === 'identity' && path.length === 1 ? path : [],
    ),
  );
  return {
    ...input,
    bucketing,
    options,
    columns: columns.map((column, position) => ({
      ...column,
      typeText: typeText(column.type),
      typeName: typeName(column.type),
      position,
      partition: partitions.has(column.name),
    })),
  };
}
