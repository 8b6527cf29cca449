import type { IncomingMessage } from 'node:http';
import { type FakeAnswer, FakeService, type FakeServiceOptions } from '../http/fake-service';
import type { LoopbackServer } from '../http/loopback-server';

/** A table as the API returns it; times are epoch seconds. */
export type FakeGlueTable = Readonly<Record<string, unknown>> & { Name: string };
export type FakeGlueFunction = Readonly<Record<string, unknown>> & { FunctionName: string };

export interface FakeGlueDatabase {
  record?: Readonly<Record<string, unknown>>;
  tables?: FakeGlueTable[];
  functions?: FakeGlueFunction[];
}

export interface FakeGlueOptions extends FakeServiceOptions {
  databases: Record<string, FakeGlueDatabase>;
  accessKeyId: string;
  /** Session token of temporary keys; null for permanent ones. */
  sessionToken?: string | null;
}

class GlueRefusal extends Error {
  constructor(
    readonly type: string,
    message: string,
  ) {
    super(message);
  }
}

type Request = Readonly<Record<string, unknown>>;

/** Glue's limit of a page, whatever the request says. */
const MAX_PAGE_SIZE = 100;

/**
 * A stand-in for AWS Glue's Data Catalog with paging. It follows the published reference of its API (GetDatabases, GetTables,
 * GetTable, GetUserDefinedFunctions and the common errors) and of the JSON 1.1 protocol of AWS: the operation in `X-Amz-Target`,
 * times in seconds, errors by `__type`. Signatures are not verified; access key and session token identify the caller.
 */
export class FakeGlue extends FakeService {
  private constructor(
    server: LoopbackServer,
    private readonly options: FakeGlueOptions,
  ) {
    super(server, options.latencyMs);
  }

  static start(options: FakeGlueOptions): Promise<FakeGlue> {
    return FakeGlue.serve((server) => new FakeGlue(server, options), options.port);
  }

  /** `GetTables {"DatabaseName":"sales"}` */
  protected nameOf(request: IncomingMessage, body: string): string {
    return `${operationOf(request)} ${body}`;
  }

  protected reply(request: IncomingMessage, body: string): FakeAnswer {
    try {
      this.admit(request);
      return json(200, this.answer(operationOf(request), JSON.parse(body) as Request));
    } catch (error) {
      if (!(error instanceof GlueRefusal)) throw error;
      return json(400, { __type: error.type, Message: error.message });
    }
  }

  private admit({ headers }: IncomingMessage): void {
    const { accessKeyId, sessionToken = null } = this.options;
    const key = /Credential=([^/]+)\/\d{8}\/[\w-]+\/glue\/aws4_request/.exec(headers.authorization ?? '')?.[1];
    if (key !== accessKeyId) {
      throw new GlueRefusal('UnrecognizedClientException', 'The security token included in the request is invalid.');
    }
    if ((headers['x-amz-security-token'] ?? null) !== sessionToken) {
      throw new GlueRefusal('ExpiredTokenException', 'The security token included in the request is expired');
    }
  }

  private answer(operation: string, request: Request): object {
    switch (operation) {
      case 'GetDatabases': {
        const databases = Object.entries(this.options.databases).map(([Name, { record }]) => ({ Name, ...record }));
        return page('DatabaseList', databases, request);
      }
      case 'GetTables': {
        const { tables = [] } = this.databaseOf(request);
        return page(
          'TableList',
          tables.map((table) => only(table, request['AttributesToGet'])),
          request,
        );
      }
      case 'GetTable': {
        const name = String(request['Name']).toLowerCase();
        const table = this.databaseOf(request).tables?.find(({ Name }) => Name.toLowerCase() === name);
        if (!table) throw new GlueRefusal('EntityNotFoundException', `Table ${name} not found.`);
        return { Table: { DatabaseName: request['DatabaseName'], ...table } };
      }
      case 'GetUserDefinedFunctions': {
        if (request['Pattern'] !== '*') throw new GlueRefusal('InvalidInputException', 'Only the pattern * is known.');
        return page('UserDefinedFunctions', this.databaseOf(request).functions ?? [], request);
      }
      default:
        throw new GlueRefusal('UnknownOperationException', operation);
    }
  }

  private databaseOf({ DatabaseName }: Request): FakeGlueDatabase {
    const { databases } = this.options;
    const name = String(DatabaseName);
    const database = Object.hasOwn(databases, name) ? databases[name] : undefined;
    if (!database) throw new GlueRefusal('EntityNotFoundException', `Database ${name} not found.`);
    return database;
  }
}

/** Returns a table with `columns` columns, as Glue describes one that Spark created. */
export function fakeGlueTable(Name: string, columns = 20): FakeGlueTable {
  return {
    Name,
    DatabaseName: 'sales',
    Description: 'Made by Spark',
    Owner: 'ada',
    CreateTime: 1_700_000_000,
    UpdateTime: 1_700_000_060.5,
    Retention: 0,
    StorageDescriptor: {
      Columns: Array.from({ length: columns }, (_, at) => ({ Name: `column_${at}`, Type: 'bigint', Comment: '' })),
      Location: `s3://warehouse/sales/${Name}`,
      InputFormat: 'org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat',
      OutputFormat: 'org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat',
      Compressed: false,
      NumberOfBuckets: 0,
      SerdeInfo: {
        SerializationLibrary: 'org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe',
        Parameters: { 'serialization.format': '1' },
      },
      SortColumns: [],
      StoredAsSubDirectories: false,
    },
    PartitionKeys: [{ Name: 'day', Type: 'date' }],
    TableType: 'EXTERNAL_TABLE',
    Parameters: { 'spark.sql.sources.provider': 'parquet' },
    CreatedBy: 'arn:aws:iam::123456789012:user/ada',
    IsRegisteredWithLakeFormation: false,
    CatalogId: '123456789012',
    VersionId: '1',
  };
}

/** Returns a page; the token is the position of the next one. */
function page(field: string, records: object[], { MaxResults = MAX_PAGE_SIZE, NextToken = '0' }: Request): object {
  const length = Number(MaxResults);
  if (!(length >= 1 && length <= MAX_PAGE_SIZE)) {
    throw new GlueRefusal('InvalidInputException', `MaxResults must be from 1 to ${MAX_PAGE_SIZE}.`);
  }
  const begin = Number(NextToken);
  const end = begin + length;
  return { [field]: records.slice(begin, end), ...(end < records.length ? { NextToken: String(end) } : {}) };
}

/** Returns the requested attributes: with `AttributesToGet`, a table has only its name, or also its type. */
function only(table: FakeGlueTable, attributes: unknown): object {
  if (!Array.isArray(attributes)) return table;
  const { Name, TableType } = table;
  return attributes.includes('TABLE_TYPE') ? { Name, TableType } : { Name };
}

function operationOf({ headers }: IncomingMessage): string {
  return String(headers['x-amz-target']).replace('AWSGlue.', '');
}

function json(status: number, body: object): FakeAnswer {
  return { status, type: 'application/x-amz-json-1.1', body: JSON.stringify(body) };
}
