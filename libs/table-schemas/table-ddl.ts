import type { Table } from '../metastore-clients/metastore-client';
import { hasPassword, namesSecret } from '../redaction/redaction';
import { locationOf } from './columns-of';
import { commentSql, typeSql } from './data-type';
import { assertExpression, assertOneStatement, literal, quotedName } from './sql-text';
import { KNOWN_TRANSFORMS, type PartitionTransform, type TableColumn, type TableColumns } from './table-columns';
import { TableSchemaError } from './table-schema-error';

/** Stands for the values of options and properties that not every reader may use, as in Spark (`spark.redaction.regex`). */
const REDACTED = '*********(redacted)';

const KNOWN = new Set<string>(KNOWN_TRANSFORMS);

/**
 * Returns one Spark SQL statement that creates the table or view again, under the default settings of Spark's parser.
 * Throws `unsupported` for what Spark cannot create, and for a view or an expression whose text is not a single statement.
 *
 * The statement leaves out what SQL cannot express: nullability of array elements and map values; Hive's descending sort
 * order; names of Iceberg's partition fields and its sort order; versions and features of Delta's protocol that no property
 * enables; identity columns; the settings and the current schema with which a view was written, so run it in the view's
 * schema. Values of properties that look like secrets are hidden.
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
  // The text of a metric view is YAML.
  if (tableType?.toUpperCase() === 'METRIC_VIEW')
    throw new TableSchemaError('unsupported', 'Spark SQL cannot create a metric view.');
  if (!viewText) throw new TableSchemaError('missing', 'The metastore does not return the text of the view.');
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
    assertExpression(generatedSql, `The generation expression of ${quotedName(name)}`);
    parts.push(`GENERATED ALWAYS AS (${generatedSql})`);
  } else if (defaultSql !== null) {
    assertExpression(defaultSql, `The default of ${quotedName(name)}`);
    parts.push(`DEFAULT ${defaultSql}`);
  }
  return `${parts.join(' ')}${commentSql(comment)}`;
}

/** @param provider `parquet`, or the name of a class */
function providerSql(provider: string | null): string {
  if (!provider) throw new TableSchemaError('missing', 'The metastore does not return the format of the table.');
  return provider.split('.').map(quotedName).join('.');
}

/** A Hive statement lists partition columns apart from the others. */
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
    const message = 'Spark cannot create the table: it has a storage handler, or no SerDe or file format.';
    throw new TableSchemaError('unsupported', message);
  }
  const { 'serialization.format': format, ...others } = serdeProperties;
  const own = { ...others, ...(format === undefined || format === '1' ? {} : { 'serialization.format': format }) };
  return [
    `ROW FORMAT SERDE ${literal(serde)}`,
    propertiesSql('WITH SERDEPROPERTIES', own),
    `STORED AS INPUTFORMAT ${literal(inputFormat)} OUTPUTFORMAT ${literal(outputFormat)}`,
  ];
}

/** The location of a managed table follows from its name. Iceberg tables are all external to Hive. */
function locationSql(table: Table, { kind }: TableColumns): string {
  const location = locationOf(table);
  const isExternal = table.tableType?.toUpperCase().includes('EXTERNAL') || kind === 'iceberg';
  return isExternal && location !== null ? `LOCATION ${literal(location)}` : '';
}

/** Returns the properties with hidden values where they look like secrets. */
export function withoutSecrets(properties: Readonly<Record<string, string>>): Record<string, string> {
  const isSecret = (name: string, value: string) => namesSecret(name) || hasPassword(value);
  return Object.fromEntries(
    Object.entries(properties).map(([name, value]) => [name, isSecret(name, value) ? REDACTED : value]),
  );
}

function propertiesSql(clause: string, properties: Readonly<Record<string, string>>): string {
  const entries = Object.entries(withoutSecrets(properties)).sort(([a], [b]) => (a < b ? -1 : 1));
  if (entries.length === 0) return '';
  return `${clause} ${listed(entries.map(([name, value]) => `${literal(name)} = ${literal(value)}`))}`;
}

function listed(lines: readonly string[]): string {
  return `(\n  ${lines.join(',\n  ')})`;
}
