/** What all metastores have in common for those who look through them: Hive, AWS Glue and Unity. */

/** Entries that one list may have; a longer one is an error rather than a memory that grows with a stranger's answer. */
export const MAX_ENTRIES = 100_000;

/** Names that {@link MetastoreClient.describeTables} takes at once. */
export const MAX_DESCRIBED = 100;

/** Where a schema is. Only Unity has several catalogs; Hive and Glue ignore the catalog. */
export interface SchemaRef {
  catalog: string | null;
  schema: string;
}

export interface TableRef extends SchemaRef {
  table: string;
}

/** Who made and changed something, and when, in epoch milliseconds; null where the metastore does not tell. */
export interface Authorship {
  owner: string | null;
  createdAt: number | null;
  createdBy: string | null;
  updatedAt: number | null;
  updatedBy: string | null;
}

export interface CatalogInfo extends Authorship {
  name: string;
  comment: string | null;
  storageRoot: string | null;
  storageLocation: string | null;
}

export interface SchemaInfo extends Authorship {
  name: string;
  catalog: string | null;
  comment: string | null;
}

export interface TableInfo extends Authorship, SchemaRef {
  name: string;
  /** In the metastore's words, such as `MANAGED_TABLE`, `EXTERNAL`, `VIRTUAL_VIEW`; null where a list does not tell. */
  tableType: string | null;
}

/** A column as the metastore tells it. `type` is Hive's or Spark's text, such as `struct<a:int,b:array<string>>`. */
export interface ColumnInfo {
  name: string;
  type: string;
  comment: string | null;
  /** Where the metastore says so, Spark's JSON of the column or of its type: it has the names of fields as they were given. */
  json?: string | null;
  /** True where it is absent. */
  nullable?: boolean;
  /** Among all columns, those of partitions too; absent where the latter are the last. */
  position?: number | null;
}

/** All that is known of a table: what its columns and its DDL are made from. */
export interface Table extends TableInfo {
  /** With this id the metastore gives credentials for the table's files; absent if it gives none. */
  id?: string | null;
  comment: string | null;
  /** Without the partition columns, as Hive and Glue keep them; for Unity all columns that are no partition. */
  columns: ColumnInfo[];
  partitionColumns: ColumnInfo[];
  /** URI, or null for a view. */
  location: string | null;
  /** Format as far as the metastore tells it, such as `PARQUET` or `DELTA` (Unity), else null. */
  dataSourceFormat: string | null;
  inputFormat: string | null;
  outputFormat: string | null;
  serde: string | null;
  serdeProperties: Record<string, string>;
  bucketColumns: string[];
  sortColumns: { name: string; ascending: boolean }[];
  /** Zero or less for none. */
  buckets: number;
  /** Of the table: `spark.sql.sources.*`, `metadata_location` and whatever else. */
  properties: Record<string, string>;
  /** The text of a view as its author wrote it, null for a table. */
  viewText: string | null;
}

/** Temporary credentials that open the files of one table. */
export interface VendedCredentials {
  provider: 'aws' | 'azure' | 'gcp';
  /** As `openObjectStore` takes them, without a region. */
  keys: Readonly<Record<string, string>>;
  /** URI of the directory that they open; null if the metastore does not say. */
  url: string | null;
}

export interface FunctionInfo extends Authorship, SchemaRef {
  name: string;
  dataType: string | null;
  fullDataType: string | null;
  routineBody: string | null;
  routineDefinition: string | null;
  parameterStyle: string | null;
  isDeterministic: boolean;
  sqlDataAccess: string | null;
  securityType: string | null;
  specificName: string | null;
  properties: string | null;
  metastoreId: string | null;
  functionId: string | null;
}

export interface VolumeInfo extends Authorship, SchemaRef {
  name: string;
  volumeType: string | null;
  storageLocation: string | null;
  comment: string | null;
  volumeId: string | null;
  metastoreId: string | null;
}

/**
 * One metastore with the secret of one caller. Every call ends by the deadline of the client or when `signal` aborts, and
 * answers at most {@link MAX_ENTRIES} entries. Throws {@link MetastoreError}. Lists are sorted by code unit, without
 * duplicates, whatever order the metastore answers in.
 */
export interface MetastoreClient {
  listCatalogs(signal: AbortSignal): Promise<CatalogInfo[]>;
  listSchemas(catalog: string | null, signal: AbortSignal): Promise<SchemaInfo[]>;
  /** With what a list tells: Hive tells names alone, which {@link describeTables} completes. */
  listTables(schema: SchemaRef, signal: AbortSignal): Promise<TableInfo[]>;
  /** At most {@link MAX_DESCRIBED} names; a table that is gone is left out. */
  describeTables(schema: SchemaRef, names: readonly string[], signal: AbortSignal): Promise<TableInfo[]>;
  /** Null when there is none. */
  readTable(table: TableRef, signal: AbortSignal): Promise<Table | null>;
  /** Credentials with which to read the files of a table; null if the metastore gives none. */
  vendCredentials(table: Table, signal: AbortSignal): Promise<VendedCredentials | null>;
  /** Of a schema. */
  listFunctions(schema: SchemaRef, signal: AbortSignal): Promise<FunctionInfo[]>;
  /** Of a schema; empty where the metastore knows none. */
  listVolumes(schema: SchemaRef, signal: AbortSignal): Promise<VolumeInfo[]>;
  /** Ends its connections. Calls under way are rejected. */
  close(): void;
}

/**
 * - `unreachable`: no connection, or it broke
 * - `timeout`: no answer by the deadline
 * - `denied`: the secret is not accepted, or may not do this
 * - `missing`: the catalog, schema or table is not there
 * - `unsupported`: this metastore knows nothing of the kind
 * - `too-large`: more than is kept of an answer
 * - `failed`: anything else that the metastore answered
 */
export type MetastoreFault = 'unreachable' | 'timeout' | 'denied' | 'missing' | 'unsupported' | 'too-large' | 'failed';

/** Why a call to a metastore failed; the message is in the provider's words and holds no secret. */
export class MetastoreError extends Error {
  constructor(
    readonly fault: MetastoreFault,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'MetastoreError';
  }
}
