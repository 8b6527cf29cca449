import type { DataType } from './data-type';
import type { SchemaColumn } from './schema-json';
import type { Bucketing } from './spark-properties';

/** Says where a table keeps its columns: `spark` is a data source table other than Delta and Iceberg. */
export type TableKind = 'hive' | 'spark' | 'delta' | 'iceberg' | 'view';

export interface TableColumn {
  name: string;
  type: DataType;
  /** Spark SQL: `struct<a:int>`. */
  typeText: string;
  /** `STRUCT`, `INT`, `DECIMAL`. */
  typeName: string;
  /** From 0. */
  position: number;
  comment: string | null;
  nullable: boolean;
  /** True if the table is partitioned by the column itself, not by a transform of it. */
  partition: boolean;
  /** SQL text, see `SchemaColumn`. */
  defaultSql: string | null;
  generatedSql: string | null;
}

/** The partition transforms that Spark knows, by its names. */
export const KNOWN_TRANSFORMS = ['identity', 'bucket', 'truncate', 'years', 'months', 'days', 'hours'] as const;

export interface PartitionTransform {
  /** One of {@link KNOWN_TRANSFORMS}, or the name of a transform that only the table's format knows. */
  transform: string;
  /** Paths of columns and their nested fields. */
  columns: string[][];
  /** Number of buckets, or the width to which values are cut. */
  argument: number | null;
}

/** The schema of a table as its metadata describe it; plain data that JSON can hold. */
export interface TableColumns {
  kind: TableKind;
  /** The name after `USING`; null for Hive tables and views. */
  provider: string | null;
  columns: TableColumn[];
  partitioning: PartitionTransform[];
  bucketing: Bucketing | null;
  /** The properties that users set, without those that Spark, Hive, Delta and Iceberg write. */
  properties: Record<string, string>;
  /** Options of a data source, such as `header` of CSV. */
  options: Record<string, string>;
  comment: string | null;
}

/** Maximum number of partition columns or transforms. */
export const MAX_PARTITIONINGS = 1000;

/** Returns a column with a name, type and comment only. */
export function plainColumn(name: string, type: DataType, comment: string | null): SchemaColumn {
  return { name, type, comment, nullable: true, defaultSql: null, generatedSql: null };
}

export function identities(columns: readonly string[]): PartitionTransform[] {
  return columns.map((column) => ({ transform: 'identity', columns: [[column]], argument: null }));
}
