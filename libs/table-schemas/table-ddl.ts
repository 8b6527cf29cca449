import type { Table } from '../metastore-clients/metastore-client';
import { locationOf } from './columns-of';
import { commentSql, typeSql } from './data-type';
import { assertExpression, assertOneStatement, literal, quotedName } from './sql-text';
import { KNOWN_TRANSFORMS, type PartitionTransform, type TableColumn, type TableColumns } from './table-columns';
import { TableSchemaError } from './table-schema-error';

/** What Spark, too, hides of options and properties (`spark.redaction.regex`), for readers who may not use them. */
const SECRET = /secret|password|passwd|token|access[._-]?key|credential|sas[._-]/i;
const REDACTED = '*********(redacted)';

const KNOWN = new Set<string>(KNOWN_TRANSFORMS);

/**
 * One statement of Spark SQL that makes the table or view again, under the default settings of its parser. Throws
 * `unsupported` for what Spark cannot make, and for a view or an expression whose text is more than one statement.
 *
 * What it cannot tell, because no statement says it: whether elements of arrays and values of maps may be null; the order
 * in which Hive sorts downwards; names of Iceberg's partition fields and its sort order; versions and features of Delta's
 * protocol that no property asks for; identity columns. Values of properties that look like secrets are hidden. For a
 * view: the settings and the current schema with which its text was written; run it with the view's schema as the current
 * one.
 */
export function ddlOf(table: Table, columns: TableColumns): string {
  const name = [table.catalog, table.schema, table.name].filter((part) => part !== null).map(quotedName);
  const target = name.join('.');
  const parts = columns.kind === 'view' ? viewSql(target, table, columns) : tableSql(target, table, columns);
  return parts.filter(Boolean).join('\n');
}

function viewSql(
  target: string,
  { viewText, tableType }: Table,
  { columns, comment, properties }: TableColumns,
): string[] {
  // Its text is YAML.
  if (tableType?.toUpperCase() === 'METRIC_VIEW')
    throw new TableSchemaError('unsupported', 'Spark cannot make a metric view.');
  if (!viewText) throw new TableSchemaError('missing', 'The metastore does not tell the text of the view.');
  assertOneStatement(viewText, 'The text of the view');
  const names = columns.map((column) => `${quotedName(column.name)}${commentSql(column.comment)}`);
  return [
    `CREATE VIEW ${target}${names.length > 0 ? ` ${listed(names)}` : ''}`,
    commentSql(comment).trim(),
    propertiesSql('TBLPROPERTIES', properties),
    `AS ${viewText}`,
  ];
}

function tableSql(target: string, table: Table, columns: TableColumns): string[] {
  const isHive = columns.kind === 'hive';
  const shown = isHive ? columns.columns.filter(({ partition }) => !partition) : columns.columns;
  const list = shown.length > 0 ? ` ${listed(shown.map(columnSql))}` : '';
  return [
    `CREATE TABLE ${target}${list}`,
    ...(isHive ? [] : [`USING ${providerSql(columns.provider)}`, propertiesSql('OPTIONS', columns.options)]),
    isHive ? hivePartitions(columns.columns) : partitionsSql(columns.partitioning),
    bucketsSql(columns),
    ...(isHive ? storageSql(table) : []),
    locationSql(table, columns),
    commentSql(columns.comment).trim(),
    propertiesSql('TBLPROPERTIES', columns.properties),
  ];
}

function columnSql({ name, type, nullable, comment, defaultSql, generatedSql }: TableColumn): string {
  const parts = [quotedName(name), typeSql(type)];
  if (!nullable) parts.push('NOT NULL');
  if (generatedSql !== null) {
    assertExpression(generatedSql, `What ${quotedName(name)} is computed from`);
    parts.push(`GENERATED ALWAYS AS (${generatedSql})`);
  } else if (defaultSql !== null) {
    assertExpression(defaultSql, `The default of ${quotedName(name)}`);
    parts.push(`DEFAULT ${defaultSql}`);
  }
  return `${parts.join(' ')}${commentSql(comment)}`;
}

/** `parquet`, or the name of a class. */
function providerSql(provider: string | null): string {
  if (!provider) throw new TableSchemaError('missing', 'The metastore does not tell the format of the table.');
  return provider.split('.').map(quotedName).join('.');
}

/** In Hive's statement the columns of partitions are not among the others. */
function hivePartitions(columns: readonly TableColumn[]): string {
  const partitions = columns.filter(({ partition }) => partition);
  return partitions.length > 0 ? `PARTITIONED BY ${listed(partitions.map(columnSql))}` : '';
}

function partitionsSql(partitioning: readonly PartitionTransform[]): string {
  const terms = partitioning.map(({ transform, columns, argument }) => {
    const paths = columns.map((path) => path.map(quotedName).join('.'));
    if (transform === 'identity') return paths.join(', ');
    const name = KNOWN.has(transform) ? transform : quotedName(transform);
    return `${name}(${[...(argument === null ? [] : [argument]), ...paths].join(', ')})`;
  });
  return terms.length > 0 ? `PARTITIONED BY (${terms.join(', ')})` : '';
}

function bucketsSql({ bucketing }: TableColumns): string {
  if (!bucketing || bucketing.buckets <= 0) return '';
  const { columns, sortColumns, buckets } = bucketing;
  const names = (list: readonly string[]) => list.map(quotedName).join(', ');
  const sorted = sortColumns.length > 0 ? ` SORTED BY (${names(sortColumns)})` : '';
  return `CLUSTERED BY (${names(columns)})${sorted} INTO ${buckets} BUCKETS`;
}

function storageSql({ serde, serdeProperties, inputFormat, outputFormat, properties }: Table): string[] {
  if (!serde || !inputFormat || !outputFormat || properties['storage_handler']) {
    throw new TableSchemaError('unsupported', 'The table has a storage handler or no format, which Spark cannot make.');
  }
  const { 'serialization.format': format, ...others } = serdeProperties;
  const own = { ...others, ...(format === undefined || format === '1' ? {} : { 'serialization.format': format }) };
  return [
    `ROW FORMAT SERDE ${literal(serde)}`,
    propertiesSql('WITH SERDEPROPERTIES', own),
    `STORED AS INPUTFORMAT ${literal(inputFormat)} OUTPUTFORMAT ${literal(outputFormat)}`,
  ];
}

/** A managed table has its place by its name. Iceberg's are all external to Hive, wherever they are. */
function locationSql(table: Table, { kind }: TableColumns): string {
  const location = locationOf(table);
  const isExternal = table.tableType?.toUpperCase().includes('EXTERNAL') || kind === 'iceberg';
  return isExternal && location !== null ? `LOCATION ${literal(location)}` : '';
}

function propertiesSql(clause: string, properties: Readonly<Record<string, string>>): string {
  const entries = Object.entries(properties).sort(([a], [b]) => (a < b ? -1 : 1));
  if (entries.length === 0) return '';
  const isSecret = (name: string, value: string) => SECRET.test(name) || /:\/\/[^/\s]*:[^/\s]*@/.test(value);
  const text = entries.map(
    ([name, value]) => `${literal(name)} = ${literal(isSecret(name, value) ? REDACTED : value)}`,
  );
  return `${clause} ${listed(text)}`;
}

function listed(lines: readonly string[]): string {
  return `(\n  ${lines.join(',\n  ')})`;
}
