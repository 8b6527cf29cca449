import type { TableKind } from './table-columns';

/** Properties that Hive and other writers of its metastore keep for themselves. */
const METASTORE_PROPERTIES = [
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

const ICEBERG_PROPERTIES = [
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

const DELTA_PROPERTIES = [
  'delta.columnmapping.maxcolumnid',
  'delta.lastcommittimestamp',
  'delta.lastupdateversion',
  'delta.rowtracking.materializedrowcommitversioncolumnname',
  'delta.rowtracking.materializedrowidcolumnname',
  'table_type',
];

const INTERNAL: Record<TableKind, ReadonlySet<string>> = {
  hive: new Set(METASTORE_PROPERTIES),
  spark: new Set(METASTORE_PROPERTIES),
  view: new Set(METASTORE_PROPERTIES),
  delta: new Set([...METASTORE_PROPERTIES, ...DELTA_PROPERTIES]),
  iceberg: new Set([...METASTORE_PROPERTIES, ...ICEBERG_PROPERTIES]),
};

/** Returns the properties that a statement may set, sorted by name. */
export function keptProperties(properties: Readonly<Record<string, string>>, kind: TableKind): Record<string, string> {
  const kept = Object.entries(properties).filter(([name]) => {
    const text = name.toLowerCase();
    const isInternal = text.startsWith('spark.sql.') || (kind === 'view' && text.startsWith('view.'));
    return !isInternal && !INTERNAL[kind].has(text);
  });
  return Object.fromEntries(kept.sort(([a], [b]) => (a < b ? -1 : 1)));
}
