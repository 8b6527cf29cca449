import { Readable } from 'node:stream';
import {
  GetDatabasesCommand,
  GetTableCommand,
  GetTablesCommand,
  GetUserDefinedFunctionsCommand,
  GlueClient as GlueSdk,
} from '@aws-sdk/client-glue';
import { ACCESS_KEY_ID_INVALID, isAccessKeyId } from '../../credential-check/aws-refusal';
import { JsonError } from '../../json/parse-json';
import { errorField } from '../../object-storage/store-fault';
import type { OutboundPolicy } from '../../outbound-policy/outbound-policy';
import { readBody } from '../response-body';
import { ResponseFields } from '../response-fields';
import { assertModestJson, parseResponse } from '../response-json';
import { CallGuard, type CallBounds, DEFAULT_TIMEOUTS, type MetastoreTimeouts } from '../call-guard';
import { describeEach } from '../described-tables';
import {
  type CatalogInfo,
  type FunctionInfo,
  type MetastoreClient,
  MetastoreError,
  type SchemaInfo,
  type SchemaRef,
  type Table,
  type TableInfo,
  type TableRef,
  type VendedCredentials,
  type VolumeInfo,
} from '../metastore-client';
import { connectionFault } from '../metastore-fault';
import { usableName } from '../metastore-names';
import { readPages } from '../paged-list';
import { withRequestDeadline } from '../request-deadline';
import { readDatabase, readDescribed, readFunction, readTable, readTableInfo } from './glue-answers';
import { glueFault } from './glue-fault';

/** The region of a Glue Data Catalog, and the keys of its account. */
export interface GlueTarget {
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
  /** Required with temporary keys. */
  sessionToken?: string;
  /** Null for AWS itself, whose endpoint follows from the region. */
  endpoint: string | null;
}

/** The name that Athena and the AWS consoles use for the only catalog of an account and region. */
export const GLUE_CATALOG = 'AwsDataCatalog';

/** Glue's maximum. */
const MaxResults = 100;
const MAX_PAGE_TOKEN_LENGTH = 16 * 1024;
const CONNECTIONS = { keepAlive: true, maxSockets: 8, maxFreeSockets: 2, timeout: 30_000 };

/** The fields of a table list that are used. */
const LISTED = ['TableList', 'NextToken', 'Name', 'TableType', 'Owner', 'CreateTime', 'CreatedBy', 'UpdateTime'];

type Command = GetDatabasesCommand | GetTableCommand | GetTablesCommand | GetUserDefinedFunctionsCommand;

/** One of Glue's lists; `field` holds the entries of a page. */
interface GlueList<T> {
  field: string;
  kind: string;
  command: (NextToken: string | undefined) => Command;
  read: (entry: ResponseFields) => T;
}

/**
 * The Data Catalog of AWS Glue: databases are schemas, and the catalog of a reference is ignored. Table lists include
 * owners and times, because they take as many requests as names alone, while reading them later takes one per table.
 */
export class GlueClient implements MetastoreClient {
  private readonly sdk: GlueSdk;
  private readonly server: string;
  private readonly secrets: readonly string[];
  private readonly guard: CallGuard;

  /** Makes no request. Throws {@link MetastoreError} for malformed keys and for an endpoint that may not be called. */
  constructor(
    target: GlueTarget,
    outbound: OutboundPolicy,
    private readonly timeouts: MetastoreTimeouts = DEFAULT_TIMEOUTS,
  ) {
    const { region, accessKeyId, secretAccessKey, sessionToken } = target;
    const endpoint = assertedTarget(target, outbound);
    this.secrets = [secretAccessKey, ...(sessionToken === undefined ? [] : [sessionToken])];
    this.server = endpoint === null ? `AWS Glue in the region ${region}` : endpoint.host;
    this.guard = new CallGuard(this.server, timeouts.callMs);
    const { http, https } = outbound.agentsWith(CONNECTIONS);
    this.sdk = new GlueSdk({
      region,
      credentials: { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) },
      ...(endpoint === null ? {} : { endpoint: endpoint.href }),
      // The second attempt corrects clock skew and survives brief throttling; the SDK waits a few seconds for it at most.
      maxAttempts: 2,
      requestHandler: { httpAgent: http, httpsAgent: https },
    });
  }

  /** Returns one entry once Glue has accepted the keys. */
  listCatalogs(signal: AbortSignal): Promise<CatalogInfo[]> {
    const unknown = { owner: null, createdAt: null, createdBy: null, updatedAt: null, updatedBy: null };
    return this.guard.run(signal, async (bounds) => {
      await this.send(new GetDatabasesCommand({ MaxResults: 1 }), 'DatabaseList', bounds);
      return [{ name: GLUE_CATALOG, comment: null, storageRoot: null, storageLocation: null, ...unknown }];
    });
  }

  listSchemas(catalog: string | null, signal: AbortSignal): Promise<SchemaInfo[]> {
    return this.list(signal, {
      field: 'DatabaseList',
      kind: 'database',
      command: (NextToken) => new GetDatabasesCommand({ NextToken, MaxResults }),
      read: (entry) => readDatabase(entry, catalog),
    });
  }

  listTables(schema: SchemaRef, signal: AbortSignal): Promise<TableInfo[]> {
    return this.list(signal, {
      field: 'TableList',
      kind: 'table',
      command: (NextToken) => new GetTablesCommand({ DatabaseName: usableName(schema.schema), NextToken, MaxResults }),
      read: (entry) => readTableInfo(entry, schema),
    });
  }

  describeTables(schema: SchemaRef, names: readonly string[], signal: AbortSignal): Promise<TableInfo[]> {
    return this.guard.run(signal, (bounds) =>
      describeEach(names, (table) => this.getTable({ ...schema, table }, bounds, readDescribed)),
    );
  }

  readTable(table: TableRef, signal: AbortSignal): Promise<Table | null> {
    return this.guard.run(signal, (bounds) => this.getTable(table, bounds, readTable));
  }

  vendCredentials(): Promise<VendedCredentials | null> {
    return Promise.resolve(null);
  }

  listFunctions(schema: SchemaRef, signal: AbortSignal): Promise<FunctionInfo[]> {
    const request = { Pattern: '*', MaxResults };
    return this.list(signal, {
      field: 'UserDefinedFunctions',
      kind: 'function',
      command: (NextToken) =>
        new GetUserDefinedFunctionsCommand({ ...request, DatabaseName: usableName(schema.schema), NextToken }),
      read: (entry) => readFunction(entry, schema),
    });
  }

  /** Returns an empty list: Glue has no volumes. */
  listVolumes(): Promise<VolumeInfo[]> {
    return Promise.resolve([]);
  }

  close(): void {
    this.guard.close();
    this.sdk.destroy();
  }

  private list<T extends { name: string }>(
    signal: AbortSignal,
    { field, kind, command: ask, read }: GlueList<T>,
  ): Promise<T[]> {
    return this.guard.run(signal, (bounds) =>
      readPages(async (token) => {
        const answer = await this.send(ask(token ?? undefined), field, bounds);
        return { entries: answer.list(field, kind, read), nextToken: answer.text('NextToken', MAX_PAGE_TOKEN_LENGTH) };
      }),
    );
  }

  private async getTable<T>(
    ref: TableRef,
    bounds: CallBounds,
    read: (answer: ResponseFields, ref: TableRef) => T,
  ): Promise<T | null> {
    try {
      const request = { DatabaseName: usableName(ref.schema), Name: usableName(ref.table) };
      const answer = await this.send(new GetTableCommand(request), 'Table', bounds);
      return read(answer.part('Table'), ref);
    } catch (error) {
      if (error instanceof MetastoreError && error.fault === 'missing') return null;
      throw error;
    }
  }

  /** @param field required in the response: the SDK accepts any object as an empty response */
  private async send(command: Command, field: string, { signal }: CallBounds): Promise<ResponseFields> {
    const answer = await withRequestDeadline(this.server, this.timeouts.requestMs, signal, async (abortSignal) => {
      try {
        bound(command, this.server, abortSignal);
        return await this.sdk.send(command as GetTablesCommand, { abortSignal });
      } catch (error) {
        throw glueFault(this.server, error, this.secrets);
      }
    });
    if (!Object.hasOwn(answer, field)) {
      throw new MetastoreError('failed', `${this.server} does not answer like AWS Glue: ${field} is missing.`);
    }
    return new ResponseFields(answer, 'page');
  }
}

/** Bounds the size of the response before the SDK reads it. */
function bound(command: Command, server: string, signal: AbortSignal): void {
  (command as GetTablesCommand).middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args).catch((error: unknown) => {
        // The SDK drops the error code of a response that is not HTTP.
        throw errorField(error, 'code')?.startsWith('HPE_') ? connectionFault(server, error) : error;
      });
      const response = result.response as { statusCode: number; headers: Record<string, string>; body?: unknown };
      if (response.body instanceof Readable) {
        const body = await readBody(response.body, response.headers, signal);
        const isList = response.statusCode === 200 && command instanceof GetTablesCommand;
        if (!isList) assertModestJson(body);
        response.body = Readable.from([isList ? withoutDetails(body) : body]);
      }
      return result;
    },
    { step: 'deserialize', priority: 'low', name: 'boundAnswer' },
  );
}

/** Removes columns and properties, which no list shows and which take the SDK most of its time to read. */
function withoutDetails(page: Buffer): Buffer {
  try {
    return Buffer.from(JSON.stringify(parseResponse(page), LISTED));
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    // The SDK reports that the response is not JSON.
    return page;
  }
}

function assertedTarget(target: GlueTarget, outbound: OutboundPolicy): URL | null {
  const { region, accessKeyId, sessionToken = '', endpoint } = target;
  // The region becomes a part of a host name.
  if (!/^[a-z0-9-]{1,40}$/.test(region))
    throw new MetastoreError('failed', 'aws_default_region of the secret is not the name of a region.');
  if (!isAccessKeyId(accessKeyId)) throw new MetastoreError('denied', ACCESS_KEY_ID_INVALID);
  if (!/^[\x21-\x7e]{0,8192}$/.test(sessionToken)) {
    throw new MetastoreError('denied', 'The session token is too long or contains characters that are not allowed.');
  }
  try {
    return endpoint === null ? null : outbound.assertUrl(endpoint);
  } catch (error) {
    throw new MetastoreError('unreachable', (error as Error).message, { cause: error });
  }
}
