import type { TProtocol, TTransport } from 'thrift';
import generatedService from './generated/ThriftHiveMetastore';
import generatedTypes from './generated/hive_metastore_types';

/** A struct as Thrift reads it: a field that was not sent is null. Told by strangers, so the types are all that is certain. */
type Told<T> = { [Field in keyof T]: T[Field] | null };

export type HiveFieldSchema = Told<{ name: string; type: string; comment: string }>;

export type HiveSerDeInfo = Told<{ name: string; serializationLib: string; parameters: Record<string, string> }>;

/** `order` is 1 for ascending, 0 for descending. */
export type HiveOrder = Told<{ col: string; order: number }>;

export type HiveStorageDescriptor = Told<{
  cols: HiveFieldSchema[];
  location: string;
  inputFormat: string;
  outputFormat: string;
  compressed: boolean;
  numBuckets: number;
  serdeInfo: HiveSerDeInfo;
  bucketCols: string[];
  sortCols: HiveOrder[];
  parameters: Record<string, string>;
}>;

/** Times in epoch seconds. */
export type HiveTable = Told<{
  tableName: string;
  dbName: string;
  owner: string;
  createTime: number;
  lastAccessTime: number;
  retention: number;
  sd: HiveStorageDescriptor;
  partitionKeys: HiveFieldSchema[];
  parameters: Record<string, string>;
  viewOriginalText: string;
  viewExpandedText: string;
  tableType: string;
}>;

export type HiveDatabase = Told<{
  name: string;
  description: string;
  locationUri: string;
  parameters: Record<string, string>;
  ownerName: string;
}>;

export type HiveFunction = Told<{
  functionName: string;
  dbName: string;
  className: string;
  ownerName: string;
  /** 1 user, 2 role, 3 group */
  ownerType: number;
  createTime: number;
  /** 1 Java */
  functionType: number;
  resourceUris: Told<{ resourceType: number; uri: string }>[];
}>;

/** The calls of hive_metastore.thrift. */
export interface HiveCalls {
  get_all_databases(): Promise<string[]>;
  get_database(name: string): Promise<HiveDatabase>;
  get_all_tables(database: string): Promise<string[]>;
  get_table(database: string, table: string): Promise<HiveTable>;
  get_table_objects_by_name(database: string, tables: readonly string[]): Promise<HiveTable[]>;
  get_all_functions(): Promise<{ functions: HiveFunction[] | null }>;
  /** Says who calls, which a metastore without logins believes; the groups that it makes of it. */
  set_ugi(user: string, groups: readonly string[]): Promise<string[]>;
  create_database(database: Writable): Promise<void>;
  create_table(table: Writable): Promise<void>;
  drop_table(database: string, table: string, deleteData: boolean): Promise<void>;
  create_function(made: Writable): Promise<void>;
}

/** An instance of a generated class; plain objects cannot be written. */
export interface Writable {
  write(output: TProtocol): void;
}

/** The generated client: sends the calls and, told which answer has arrived, reads it and settles the call's promise. */
export interface GeneratedClient extends HiveCalls {
  /** Number of the call sent last. */
  seqid(): number;
}

type Constructor<T> = new (fields: Partial<T>) => Writable;

/** An exception that hive_metastore.thrift declares; `name` is that of its class. */
export type HiveException = Error & { message: string | null };

type ExceptionName =
  | 'MetaException'
  | 'NoSuchObjectException'
  | 'UnknownDBException'
  | 'InvalidOperationException'
  | 'AlreadyExistsException'
  | 'InvalidObjectException';

type ExceptionClasses = Record<ExceptionName, new (fields?: { message: string }) => HiveException>;

export const { Client: HiveThriftClient } = generatedService as unknown as {
  Client: new (output: TTransport, protocol: new (transport: TTransport) => TProtocol) => GeneratedClient;
};

export const hiveTypes = generatedTypes as unknown as ExceptionClasses & {
  Table: Constructor<HiveTable>;
  Database: Constructor<HiveDatabase>;
  Function: Constructor<HiveFunction>;
};
