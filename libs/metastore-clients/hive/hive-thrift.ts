import { bool, i32, list, map, method, string, struct, type ValueOf } from './thrift-structs';

// The part of the Hive metastore's interface that the platform uses, with the names and ids of Hive 2.3, which later releases
// keep. Responses are not trusted: only the types of their fields are certain.

const FIELD_SCHEMA = struct({ name: [1, string], type: [2, string], comment: [3, string] });

export const SERDE_INFO = struct({ name: [1, string], serializationLib: [2, string], parameters: [3, map(string)] });

/** `order` is 1 for ascending, 0 for descending. */
const ORDER = struct({ col: [1, string], order: [2, i32] });

export const STORAGE_DESCRIPTOR = struct({
  cols: [1, list(FIELD_SCHEMA)],
  location: [2, string],
  inputFormat: [3, string],
  outputFormat: [4, string],
  compressed: [5, bool],
  numBuckets: [6, i32],
  serdeInfo: [7, SERDE_INFO],
  bucketCols: [8, list(string)],
  sortCols: [9, list(ORDER)],
  parameters: [10, map(string)],
});

/** Times in epoch seconds. */
export const TABLE = struct({
  tableName: [1, string],
  dbName: [2, string],
  owner: [3, string],
  createTime: [4, i32],
  lastAccessTime: [5, i32],
  retention: [6, i32],
  sd: [7, STORAGE_DESCRIPTOR],
  partitionKeys: [8, list(FIELD_SCHEMA)],
  parameters: [9, map(string)],
  viewOriginalText: [10, string],
  viewExpandedText: [11, string],
  tableType: [12, string],
});

export const DATABASE = struct({
  name: [1, string],
  description: [2, string],
  locationUri: [3, string],
  parameters: [4, map(string)],
  ownerName: [6, string],
});

/** `ownerType` is 1 for a user, 2 for a role, 3 for a group; `functionType` is 1 for Java. */
export const FUNCTION = struct({
  functionName: [1, string],
  dbName: [2, string],
  className: [3, string],
  ownerName: [4, string],
  ownerType: [5, i32],
  createTime: [6, i32],
  functionType: [7, i32],
  resourceUris: [8, list(struct({ resourceType: [1, i32], uri: [2, string] }))],
});

export type HiveFieldSchema = ValueOf<typeof FIELD_SCHEMA>;
export type HiveStorageDescriptor = ValueOf<typeof STORAGE_DESCRIPTOR>;
export type HiveTable = ValueOf<typeof TABLE>;
export type HiveDatabase = ValueOf<typeof DATABASE>;
export type HiveFunction = ValueOf<typeof FUNCTION>;

/** The methods; their exceptions have the ids 1, 2, 3 in the order of the list. */
export const HIVE = {
  get_all_databases: method('get_all_databases', {}, list(string), ['MetaException']),
  get_database: method('get_database', { name: [1, string] }, DATABASE, ['NoSuchObjectException', 'MetaException']),
  get_all_tables: method('get_all_tables', { db_name: [1, string] }, list(string), ['MetaException']),
  get_table: method('get_table', { dbname: [1, string], tbl_name: [2, string] }, TABLE, [
    'MetaException',
    'NoSuchObjectException',
  ]),
  get_table_objects_by_name: method(
    'get_table_objects_by_name',
    { dbname: [1, string], tbl_names: [2, list(string)] },
    list(TABLE),
    ['MetaException', 'InvalidOperationException', 'UnknownDBException'],
  ),
  get_all_functions: method('get_all_functions', {}, struct({ functions: [1, list(FUNCTION)] }), ['MetaException']),
  /** Sends the user name, which a metastore without logins trusts; returns the user's groups. */
  set_ugi: method('set_ugi', { user_name: [1, string], group_names: [2, list(string)] }, list(string), [
    'MetaException',
  ]),
};
