/** The common interface of Hive, AWS Glue and Unity metastores, for browsing. */

/** Maximum length of a list; a longer one is an error, so that a server's response cannot fill the memory. */
export const MAX_ENTRIES = 100_000;

/** Maximum number of names for one {@link MetastoreClient.describeTables}. */
export const MAX_DESCRIBED = 100;

/** Identifies a schema. Only Unity has several catalogs; Hive and Glue ignore the catalog. */
export interface SchemaRef {
  catalog: string | null;
  schema: string;
}

export interface TableRef extends SchemaRef {
  table: string;
}

/** The owner of an object, and the users and times of its creation and last change. Null if the metastore does not say. */
export interface Authorship {
  owner: string | null;
  /** Epoch milliseconds. */
  createdAt: number | null;
  createdBy: string | null;
  /** Epoch milliseconds. */
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
  /** The metastore's own type, such as `MANAGED_TABLE`, `EXTERNAL`, `VIRTUAL_VIEW`; null if a list does not include it. */
  tableType: string | null;
}

export interface ColumnInfo {
  name: string;
  /** Hive's or Spark's text, such as `struct<a:int,b:array<string>>`. */
  type: string;
  comment: string | null;
  /** Spark's JSON of the column or of its type, if the metastore has it; it preserves the case of field names. */
  json?: string | null;
  /** Default true. */
  nullable?: boolean;
  /** Position among all columns, including partition columns; absent if those come last. */
  position?: number | null;
}

/** Everything that a metastore says of a table; its columns and its DDL are derived from it. */
export interface Table extends TableInfo {
  /** The id for which the metastore vends credentials; absent if it vends none. */
  id?: string | null;
  comment: string | null;
  /** Without the partition columns. */
  columns: ColumnInfo[];
  partitionColumns: ColumnInfo[];
  /** URI, or null for a view. */
  location: string | null;
  /** The format if the metastore names it, such as `PARQUET` or `DELTA` (Unity), else null. */
  dataSourceFormat: string | null;
  inputFormat: string | null;
  outputFormat: string | null;
  serde: string | null;
  serdeProperties: Record<string, string>;
  bucketColumns: string[];
  sortColumns: { name: string; ascending: boolean }[];
  /** Zero or less if the table has no buckets. */
  buckets: number;
  /** Properties of the table, including `spark.sql.sources.*` and `metadata_location`. */
  properties: Record<string, string>;
  /** The text of a view as its author wrote it; null for a table. */
  viewText: string | null;
}

/** Temporary credentials that open the files of one table. */
export interface VendedCredentials {
  provider: 'aws' | 'azure' | 'gcp';
  /** The `credentials` of `openObjectStore`, without a region. */
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
 * Calls one metastore with the secret of one caller. Every call ends at the client's deadline or when `signal` aborts, and
 * returns at most {@link MAX_ENTRIES} entries. Throws {@link MetastoreError}. Lists are sorted by code unit, without
 * duplicates, whatever the order of the metastore.
 */
export interface MetastoreClient {
  listCatalogs(signal: AbortSignal): Promise<CatalogInfo[]>;
  listSchemas(catalog: string | null, signal: AbortSignal): Promise<SchemaInfo[]>;
  /** Lists tables with the details that a list includes: Hive lists names only, which {@link describeTables} completes. */
  listTables(schema: SchemaRef, signal: AbortSignal): Promise<TableInfo[]>;
  /** Describes at most {@link MAX_DESCRIBED} tables; leaves out tables that do not exist. */
  describeTables(schema: SchemaRef, names: readonly string[], signal: AbortSignal): Promise<TableInfo[]>;
  /** Returns null if the table does not exist. */
  readTable(table: TableRef, signal: AbortSignal): Promise<Table | null>;
  /** Returns temporary credentials to read the files of a table; null if the metastore vends none. */
  vendCredentials(table: Table, signal: AbortSignal): Promise<VendedCredentials | null>;
  listFunctions(schema: SchemaRef, signal: AbortSignal): Promise<FunctionInfo[]>;
  /** Returns an empty list for a metastore without volumes. */
  listVolumes(schema: SchemaRef, signal: AbortSignal): Promise<VolumeInfo[]>;
  /** Closes the connections; running calls are rejected. */
  close(): void;
}

/**
 * - `unreachable`: the connection failed or broke
 * - `timeout`: no response by the deadline
 * - `denied`: the secret is not accepted, or lacks the permission
 * - `missing`: the catalog, schema or table does not exist
 * - `unsupported`: the metastore has no such feature
 * - `too-large`: the response exceeds a limit
 * - `failed`: any other error of the metastore
 */
export type MetastoreFault = 'unreachable' | 'timeout' | 'denied' | 'missing' | 'unsupported' | 'too-large' | 'failed';

/** A call to a metastore failed. The message is for users: it quotes the metastore's own reason and holds no secret. */
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
