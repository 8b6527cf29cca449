import type { TableKind } from './table-columns';

/** What Hive, and those who write to its metastore, keep for themselves. */
const OF_METASTORES = [
  'bucketing_version',
  'column_stats_accurate',
  'comment',
  'external',
  'is_managed_location',
  'last_modified_by',
  'last_modified_time',
  'location',
  'numfiles',
  'numfileserasurecoded',
  'numpartitions',
  'numrows',
  'owner',
  'provider',
  'rawdatasize',
  'serialization.format',
  'stats_generated_via_stats_task',
  'totalsize',
  'transient_lastddltime',
  'translated_to_external',
];

const OF_ICEBERG = [
  'current-schema',
  'current-snapshot-id',
  'current-snapshot-summary',
  'current-snapshot-timestamp-ms',
  'default-partition-spec',
  'default-sort-order',
  'engine.hive.enabled',
  'iceberg.hive.client-pool-size',
  'metadata_location',
  'previous_metadata_location',
  'snapshot-count',
  'storage_handler',
  'table_type',
  'uuid',
];

const OF_DELTA = [
  'delta.columnmapping.maxcolumnid',
  'delta.lastcommittimestamp',
  'delta.lastupdateversion',
  'delta.rowtracking.materializedrowcommitversioncolumnname',
  'delta.rowtracking.materializedrowidcolumnname',
  'table_type',
];

const NEVER: Record<TableKind, ReadonlySet<string>> = {
  hive: new Set(OF_METASTORES),
  spark: new Set(OF_METASTORES),
  view: new Set(OF_METASTORES),
  delta: new Set([...OF_METASTORES, ...OF_DELTA]),
  iceberg: new Set([...OF_METASTORES, ...OF_ICEBERG]),
};

/** Properties that a statement may set, by name. */
export function keptProperties(properties: Readonly<Record<string, string>>, kind: TableKind): Record<string, string> {
  const kept = Object.entries(properties).filter(([name]) => {
    const text = name.toLowerCase();
    const isInternal = text.startsWith('spark.sql.') || (kind === 'view' && text.startsWith('view.'));
    return !isInternal && !NEVER[kind].has(text);
  });
  return Object.fromEntries(kept.sort(([a], [b]) => (a < b ? -1 : 1)));
}
