import type { DataType } from './data-type';
import type { SchemaColumn } from './schema-json';
import type { Bucketing } from './spark-properties';

/** By what keeps the columns: `spark` is a data source table other than Delta's and Iceberg's. */
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
  /** Whether the table is partitioned by its values as they are. */
  partition: boolean;
  /** SQL text, see `SchemaColumn`. */
  defaultSql: string | null;
  generatedSql: string | null;
}

/** By what tables are partitioned in Spark's words. */
export const KNOWN_TRANSFORMS = ['identity', 'bucket', 'truncate', 'years', 'months', 'days', 'hours'] as const;

export interface PartitionTransform {
  /** One of {@link KNOWN_TRANSFORMS}, or the name that a format has for one of its own. */
  transform: string;
  /** Paths of names. */
  columns: string[][];
  /** Number of buckets, or the width to which values are cut. */
  argument: number | null;
}

/** All that a table's own metadata say of it; plain data, which JSON keeps. */
export interface TableColumns {
  kind: TableKind;
  /** After `USING`; null for Hive's tables and views. */
  provider: string | null;
  columns: TableColumn[];
  partitioning: PartitionTransform[];
  bucketing: Bucketing | null;
  /** Those that somebody set, without what Spark, Hive, Delta and Iceberg write themselves. */
  properties: Record<string, string>;
  /** Of a data source, such as `header` of CSV. */
  options: Record<string, string>;
  comment: string | null;
}

/** The most partition columns, transforms and buckets' columns that are told. */
export const MAX_PARTITIONINGS = 1000;

/** A column of which only name, type and comment are known. */
export function plainColumn(name: string, type: DataType, comment: string | null): SchemaColumn {
  return { name, type, comment, nullable: true, defaultSql: null, generatedSql: null };
}

export function identities(columns: readonly string[]): PartitionTransform[] {
  return columns.map((column) => ({ transform: 'identity', columns: [[column]], argument: null }));
}
