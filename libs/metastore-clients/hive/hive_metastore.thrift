// The part of the Hive metastore's interface that the platform uses, with the field ids of Hive 2.3, which later releases
// keep. Thrift skips fields that are not named here. What only tests call is at the end.
//
// After a change, in this folder, with the Thrift compiler (Debian: thrift-compiler):
//   thrift --gen js:node,es6 -out generated hive_metastore.thrift
//   sed -i -e '1i // @ts-nocheck' -e '/node-int64/d' generated/*.js
// The types of what is generated are in hive-thrift.ts.

struct FieldSchema {
  1: string name,
  2: string type,
  3: string comment
}

struct SerDeInfo {
  1: string name,
  2: string serializationLib,
  3: map<string, string> parameters
}

struct Order {
  1: string col,
  2: i32 order
}

struct StorageDescriptor {
  1: list<FieldSchema> cols,
  2: string location,
  3: string inputFormat,
  4: string outputFormat,
  5: bool compressed,
  6: i32 numBuckets,
  7: SerDeInfo serdeInfo,
  8: list<string> bucketCols,
  9: list<Order> sortCols,
  10: map<string, string> parameters
}

// createTime in epoch seconds
struct Table {
  1: string tableName,
  2: string dbName,
  3: string owner,
  4: i32 createTime,
  5: i32 lastAccessTime,
  6: i32 retention,
  7: StorageDescriptor sd,
  8: list<FieldSchema> partitionKeys,
  9: map<string, string> parameters,
  10: string viewOriginalText,
  11: string viewExpandedText,
  12: string tableType
}

struct Database {
  1: string name,
  2: string description,
  3: string locationUri,
  4: map<string, string> parameters,
  6: optional string ownerName
}

enum PrincipalType {
  USER = 1,
  ROLE = 2,
  GROUP = 3
}

enum FunctionType {
  JAVA = 1
}

enum ResourceType {
  JAR = 1,
  FILE = 2,
  ARCHIVE = 3
}

struct ResourceUri {
  1: ResourceType resourceType,
  2: string uri
}

struct Function {
  1: string functionName,
  2: string dbName,
  3: string className,
  4: string ownerName,
  5: PrincipalType ownerType,
  6: i32 createTime,
  7: FunctionType functionType,
  8: list<ResourceUri> resourceUris
}

struct GetAllFunctionsResponse {
  1: optional list<Function> functions
}

exception MetaException {
  1: string message
}

exception NoSuchObjectException {
  1: string message
}

exception UnknownDBException {
  1: string message
}

exception InvalidOperationException {
  1: string message
}

exception AlreadyExistsException {
  1: string message
}

exception InvalidObjectException {
  1: string message
}

service ThriftHiveMetastore {
  list<string> get_all_databases() throws (1: MetaException o1)
  Database get_database(1: string name) throws (1: NoSuchObjectException o1, 2: MetaException o2)
  list<string> get_all_tables(1: string db_name) throws (1: MetaException o1)
  Table get_table(1: string dbname, 2: string tbl_name) throws (1: MetaException o1, 2: NoSuchObjectException o2)
  list<Table> get_table_objects_by_name(1: string dbname, 2: list<string> tbl_names) throws (1: MetaException o1, 2: InvalidOperationException o2, 3: UnknownDBException o3)
  GetAllFunctionsResponse get_all_functions() throws (1: MetaException o1)
  list<string> set_ugi(1: string user_name, 2: list<string> group_names) throws (1: MetaException o1)

  void create_database(1: Database database) throws (1: AlreadyExistsException o1, 2: InvalidObjectException o2, 3: MetaException o3)
  void create_table(1: Table tbl) throws (1: AlreadyExistsException o1, 2: InvalidObjectException o2, 3: MetaException o3, 4: NoSuchObjectException o4)
  void drop_table(1: string dbname, 2: string name, 3: bool deleteData) throws (1: NoSuchObjectException o1, 2: MetaException o3)
  void create_function(1: Function func) throws (1: AlreadyExistsException o1, 2: InvalidObjectException o2, 3: MetaException o3, 4: NoSuchObjectException o4)
}
