import type { OutboundPolicy } from '../../outbound-policy/outbound-policy';
import { CallGuard } from '../call-guard';
import { assertRequestedTable } from '../described-answers';
import {
  type CatalogInfo,
  type FunctionInfo,
  type MetastoreClient,
  MetastoreError,
  MAX_DESCRIBED,
  MAX_ENTRIES,
  type SchemaInfo,
  type SchemaRef,
  type Table,
  type TableInfo,
  type TableRef,
  type VendedCredentials,
  type VolumeInfo,
} from '../metastore-client';
import { usableName } from '../metastore-names';
import { sortedByName } from '../paged-list';
import { functionOf, namedTable, schemaOf, tableInfoOf, tableOf } from './hive-answers';
import { HiveAuthentication, type HiveLogin } from './hive-authentication';
import type { HiveUri } from './hive-connection';
import { HiveConnections, MAX_CONNECTIONS } from './hive-connections';
import { exceptionFault } from './hive-fault';
import { HIVE } from './hive-thrift';
import type { ThriftMethod } from './thrift-structs';

/** A list of at most this many schemas includes owners and comments, which take one request per schema. */
const MAX_DESCRIBED_SCHEMAS = 100;

export interface HiveMetastoreOptions {
  /** Metastores that serve the same data, tried in this order. */
  uris: readonly HiveUri[];
  outbound: OutboundPolicy;
  /** Time limit of one call with all its requests, milliseconds. */
  deadlineMs: number;
  login?: HiveLogin;
}

/**
 * A Hive metastore, by the Thrift interface of Hive 2.3 and later. It has one catalog, which has no name, and no volumes. It
 * stores names in lower case and ignores the case of requests.
 */
export class HiveMetastoreClient implements MetastoreClient {
  private readonly guard: CallGuard;
  private readonly connections: HiveConnections;

  constructor(options: HiveMetastoreOptions) {
    const { uris, outbound, deadlineMs, login = { kind: 'none', user: null } } = options;
    this.guard = new CallGuard('The Hive metastore', deadlineMs);
    // The deadline leaves time to try all metastores, and for the last one to answer.
    const authentication = new HiveAuthentication(login, outbound);
    this.connections = new HiveConnections(uris, outbound, authentication, deadlineMs / (uris.length + 1));
  }

  async listCatalogs(_signal: AbortSignal): Promise<CatalogInfo[]> {
    throw new MetastoreError('unsupported', 'A Hive metastore has no catalogs. List its schemas instead.');
  }

  /** Includes owners and comments if there are at most {@link MAX_DESCRIBED_SCHEMAS} schemas. */
  async listSchemas(_catalog: string | null, signal: AbortSignal): Promise<SchemaInfo[]> {
    return this.run(signal, async (call) => {
      const names = sortedNames(await call(HIVE.get_all_databases, {}));
      if (names.length > MAX_DESCRIBED_SCHEMAS) return names.map((name) => schemaOf(name, null));
      const waiting = [...names];
      const found: SchemaInfo[] = [];
      const worker = async (): Promise<void> => {
        for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
          const database = await orNull(call(HIVE.get_database, { name }));
          if (database) found.push(schemaOf(name, database));
        }
      };
      await Promise.all(Array.from({ length: MAX_CONNECTIONS }, worker));
      return sortedByName(found);
    });
  }

  async listTables({ schema }: SchemaRef, signal: AbortSignal): Promise<TableInfo[]> {
    return this.run(signal, async (call) => {
      const names = sortedNames(await call(HIVE.get_all_tables, { db_name: usableName(schema) }));
      // Hive also returns an empty list for a schema that does not exist.
      if (names.length === 0) await assertSchema(schema, call);
      return names.map((name) => namedTable(schema, name));
    });
  }

  async describeTables({ schema }: SchemaRef, names: readonly string[], signal: AbortSignal): Promise<TableInfo[]> {
    const wanted = new Set(names.map((name) => name.toLowerCase()));
    if (wanted.size > MAX_DESCRIBED) throw new RangeError(`At most ${MAX_DESCRIBED} tables are described at once.`);
    const sent = [...wanted].filter(isUsable);
    if (sent.length === 0) return [];
    return this.run(signal, async (call) => {
      const objects = await call(HIVE.get_table_objects_by_name, { dbname: usableName(schema), tbl_names: sent });
      const tables = objects.map((table) => tableInfoOf(schema, table));
      return unique(tables.filter(({ name }) => wanted.has(name.toLowerCase())));
    });
  }

  async readTable(ref: TableRef, signal: AbortSignal): Promise<Table | null> {
    const { schema, table } = ref;
    return this.run(signal, async (call) => {
      if (!isUsable(schema) || !isUsable(table)) return null;
      const found = await orNull(call(HIVE.get_table, { dbname: schema, tbl_name: table }));
      if (!found) return null;
      assertRequestedTable(found.tableName, ref, 'Hive metastore');
      return tableOf(schema, found);
    });
  }

  vendCredentials(): Promise<VendedCredentials | null> {
    return Promise.resolve(null);
  }

  async listFunctions({ schema }: SchemaRef, signal: AbortSignal): Promise<FunctionInfo[]> {
    return this.run(signal, async (call) => {
      // For one schema, Hive lists names only, and the details would take one request per function.
      const { functions } = await call(HIVE.get_all_functions, {});
      const here = (functions ?? []).filter(({ dbName }) => dbName?.toLowerCase() === schema.toLowerCase());
      if (here.length === 0) await assertSchema(schema, call);
      return unique(here.map((found) => functionOf(schema, found)));
    });
  }

  async listVolumes({ schema }: SchemaRef, signal: AbortSignal): Promise<VolumeInfo[]> {
    return this.run(signal, async (call) => {
      await assertSchema(schema, call);
      return [];
    });
  }

  close(): void {
    this.guard.close();
    this.connections.close();
  }

  private run<T>(signal: AbortSignal, work: (call: Call) => Promise<T>): Promise<T> {
    return this.guard.run(signal, async (bounds) => {
      try {
        return await work((method, values) => this.connections.call(method, values, bounds.signal));
      } catch (error) {
        throw exceptionFault(error);
      }
    });
  }
}

type Call = <A, R>(method: ThriftMethod<A, R>, values: A) => Promise<R>;

/** Rejects with `missing` unless the metastore has the schema. */
async function assertSchema(schema: string, call: Call): Promise<void> {
  await call(HIVE.get_database, { name: usableName(schema) });
}

/** True if an object can have the name. */
function isUsable(name: string): boolean {
  try {
    return usableName(name) === name;
  } catch {
    return false;
  }
}

/** Returns null if the call fails with `missing`. */
async function orNull<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (exceptionFault(error).fault === 'missing') return null;
    throw error;
  }
}

function sortedNames(names: readonly string[]): string[] {
  assertBounded(names);
  return [...new Set(names)].sort();
}

function unique<T extends { name: string }>(entries: readonly T[]): T[] {
  assertBounded(entries);
  return sortedByName(new Map(entries.map((entry) => [entry.name, entry])).values());
}

function assertBounded(entries: readonly unknown[]): void {
  if (entries.length <= MAX_ENTRIES) return;
  throw new MetastoreError(
    'too-large',
    `The Hive metastore returns a list of more than ${MAX_ENTRIES} entries, which is too long.`,
  );
}
