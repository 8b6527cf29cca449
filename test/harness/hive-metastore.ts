import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { HiveAuthentication } from '../../libs/metastore-clients/hive/hive-authentication';
import { HiveConnection } from '../../libs/metastore-clients/hive/hive-connection';
import {
  DATABASE,
  FUNCTION,
  HIVE,
  type HiveDatabase,
  type HiveFunction,
  type HiveStorageDescriptor,
  type HiveTable,
  TABLE,
} from '../../libs/metastore-clients/hive/hive-thrift';
import { method, type ThriftMethod } from '../../libs/metastore-clients/hive/thrift-structs';
import { MetastoreError } from '../../libs/metastore-clients/metastore-client';
import { OutboundPolicy } from '../../libs/outbound-policy/outbound-policy';
import { configurationXml } from './configuration-xml';
import { eventually } from './eventually';
import { freePort } from '../../scripts/embedded/ports.mjs';
import type { KerberosRealm } from './kerberos-realm';
import { preparedRuntime } from './prepared-runtime';
import { suspend } from './suspend';

const STARTS_WITHIN_MS = 180_000;

/** The number of the last characters of the server's output in the message of a failed start. */
const OUTPUT_KEPT = 10_000;

/** Connections that create tables in parallel; more do not make Derby faster. */
const PARALLEL_CONNECTIONS = 4;

/** Methods that only tests call. */
const CREATING = ['AlreadyExistsException', 'InvalidObjectException', 'MetaException', 'NoSuchObjectException'];
const CREATE_DATABASE = method('create_database', { database: [1, DATABASE] }, null, CREATING.slice(0, 3));
const CREATE_TABLE = method('create_table', { tbl: [1, TABLE] }, null, CREATING);
const CREATE_FUNCTION = method('create_function', { func: [1, FUNCTION] }, null, CREATING);

const LOOPBACK = new OutboundPolicy({ schemes: [], allowedClasses: ['loopback'] });
const NO_LOGIN = new HiveAuthentication({ kind: 'none', user: null }, LOOPBACK);

/** A call to a metastore. */
export type HiveCall = <A, R>(called: ThriftMethod<A, R>, values: A) => Promise<R>;

/** A table to create. Missing values are those of Hive's own tables of text files. */
export type NewHiveTable = Partial<Omit<HiveTable, 'sd'>> & { tableName: string; sd?: Partial<HiveStorageDescriptor> };

/** Further settings of a metastore. */
export interface MoreOfMetastore {
  /** Hadoop properties. */
  settings?: Record<string, string>;
  /** A folder with further jars. */
  jars?: string;
  /** Requires a Kerberos login, with this principal of the server; `protection` is `hadoop.rpc.protection`. */
  kerberos?: { realm: KerberosRealm; principal: string; protection: 'authentication' | 'integrity' | 'privacy' };
}

/**
 * A real Hive metastore of Hive 2.3, from the jars of the runtime's Spark, for tests: a process of its own on a free port
 * with an empty in-memory database and a folder as its warehouse. Metastores of this release listen on all addresses, so
 * it must never hold secrets or data.
 */
export class HiveMetastore {
  readonly host = '127.0.0.1';

  private constructor(
    readonly port: number,
    /** The folder of the warehouse. */
    readonly warehouse: string,
    private readonly folder: string,
    private readonly child: ChildProcess,
  ) {}

  /**
   * Takes at least two seconds. The keys of object stores in `more` are visible in its command line. Rejects with the output
   * of the server if it exits or is not ready within three minutes.
   */
  static async start(more: MoreOfMetastore = {}): Promise<HiveMetastore> {
    const folder = mkdtempSync(join(tmpdir(), 'hive-metastore-'));
    const warehouse = join(folder, 'warehouse');
    mkdirSync(warehouse);
    const port = await freePort();
    const { command, args } = commandOf(folder, { warehouse, port, more });
    const child = spawn(command, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
    const metastore = new HiveMetastore(port, warehouse, folder, child);
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-OUTPUT_KEPT)));
    try {
      await metastore.serves(more.kerberos === undefined);
      return metastore;
    } catch (error) {
      await metastore.stop();
      throw new Error(`The Hive metastore does not start: ${output}`, { cause: error });
    }
  }

  /** The value for `hive.metastore.uris`. */
  get uri(): string {
    return `thrift://${this.host}:${this.port}`;
  }

  /** Runs `work` on a connection of its own, without timeouts. */
  async call<T>(work: (call: HiveCall, hive: typeof HIVE) => Promise<T>): Promise<T> {
    const { signal } = new AbortController();
    const connection = await HiveConnection.open({ host: this.host, port: this.port }, LOOPBACK, NO_LOGIN, signal);
    try {
      return await work((called, values) => connection.call(called, values, signal), HIVE);
    } finally {
      connection.close(new MetastoreError('unreachable', 'The work has ended.'));
    }
  }

  async createDatabase(name: string, more: Partial<HiveDatabase> = {}): Promise<void> {
    const locationUri = pathToFileURL(join(this.warehouse, `${name}.db`)).href;
    const database = { ...DATABASE.none, name, locationUri, parameters: {}, ...more };
    await this.call((call) => call(CREATE_DATABASE, { database }));
  }

  /** Creates about a hundred tables per second, because tables without a location get no folder. */
  async createTables(database: string, tables: readonly NewHiveTable[]): Promise<void> {
    const waiting = [...tables].reverse();
    const make = async (call: HiveCall): Promise<void> => {
      for (let table = waiting.pop(); table; table = waiting.pop())
        await call(CREATE_TABLE, { tbl: this.complete(database, table) });
    };
    await Promise.all(Array.from({ length: Math.min(PARALLEL_CONNECTIONS, tables.length) }, () => this.call(make)));
  }

  /** @param made `functionName`, and values that differ from the defaults */
  async createFunction(database: string, made: Partial<HiveFunction> & { functionName: string }): Promise<void> {
    const usual = {
      className: 'org.example.Made',
      ownerName: 'tests',
      ownerType: 1,
      functionType: 1,
      resourceUris: [],
    };
    const func = { dbName: database, createTime: seconds(), ...usual, ...made };
    await this.call((call) => call(CREATE_FUNCTION, { func }));
  }

  /** The server keeps its port and its connections, but does not respond until {@link resume}. */
  halt(): Promise<void> {
    return suspend(this.child.pid);
  }

  resume(): void {
    this.child.kill('SIGCONT');
  }

  /** Ends the process, and with it the database, and removes the warehouse. May be called again. */
  async stop(): Promise<void> {
    if (!this.hasEnded) {
      const ended = once(this.child, 'exit');
      this.child.kill('SIGKILL');
      await ended;
    }
    await rm(this.folder, { recursive: true, force: true });
  }

  private complete(database: string, table: NewHiveTable): HiveTable {
    return {
      ...TABLE.none,
      dbName: database,
      owner: 'tests',
      createTime: seconds(),
      lastAccessTime: 0,
      retention: 0,
      tableType: 'EXTERNAL_TABLE',
      partitionKeys: [],
      ...table,
      parameters: { EXTERNAL: 'TRUE', ...table.parameters },
      sd: {
        cols: [{ name: 'id', type: 'int', comment: null }],
        location: pathToFileURL(this.warehouse).href,
        inputFormat: 'org.apache.hadoop.mapred.TextInputFormat',
        outputFormat: 'org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat',
        compressed: false,
        numBuckets: -1,
        serdeInfo: {
          name: null,
          serializationLib: 'org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe',
          parameters: {},
        },
        bucketCols: [],
        sortCols: [],
        parameters: {},
        ...table.sd,
      },
    };
  }

  private get hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null || this.child.pid === undefined;
  }

  /** @param isAsked true if the server accepts calls without a login, so that one can check it */
  private async serves(isAsked: boolean): Promise<void> {
    const ended = once(this.child, 'exit').then(() => Promise.reject(new Error('It ended.')));
    const asked = eventually(() => this.hasEnded || isOpen(this.host, this.port), {
      timeoutMs: STARTS_WITHIN_MS,
      what: 'an open port of the Hive metastore',
    });
    await Promise.race([asked, ended]);
    // The server listens before its database has tables.
    if (isAsked) await Promise.race([this.call((call, hive) => call(hive.get_all_databases, {})), ended]);
  }
}

function commandOf(
  folder: string,
  { warehouse, port, more }: { warehouse: string; port: number; more: MoreOfMetastore },
): { command: string; args: string[] } {
  const { javaHome, sparkHome } = preparedRuntime();
  const settings = {
    'javax.jdo.option.ConnectionURL': 'jdbc:derby:memory:metastore;create=true',
    'datanucleus.schema.autoCreateAll': 'true',
    'hive.metastore.schema.verification': 'false',
    'hive.metastore.warehouse.dir': pathToFileURL(warehouse).href,
    'hive.metastore.server.min.threads': '8',
    'hive.metastore.server.max.threads': '100',
    ...(more.kerberos && kerberosSettings(more.kerberos)),
  };
  const jars = [join(sparkHome, 'jars'), ...(more.jars ? [more.jars] : [])].map((place) => join(place, '*'));
  // Hadoop reads its settings from the class path only, and they may contain keys.
  const coreSite = configurationXml({ ...more.settings, ...loginSettings(more) });
  writeFileSync(join(folder, 'core-site.xml'), coreSite, { mode: 0o600 });
  const options = [
    ...['-Xms64m', '-Xmx384m', '-XX:-UsePerfData', `-Djava.io.tmpdir=${folder}`],
    `-Dderby.stream.error.file=${join(folder, 'derby.log')}`,
    // Asynchronous logging needs com.lmax:disruptor, which Spark lacks.
    '-Dhive.async.log.enabled=false',
    ...(more.kerberos ? [`-Djava.security.krb5.conf=${more.kerberos.realm.javaConf}`] : []),
  ];
  const args = [
    ...[...options, '-cp', [folder, ...jars].join(':'), 'org.apache.hadoop.hive.metastore.HiveMetaStore'],
    ...['-p', String(port), ...Object.entries(settings).flatMap(([name, value]) => ['--hiveconf', `${name}=${value}`])],
  ];
  return { command: join(javaHome, 'bin', 'java'), args };
}

function kerberosSettings({ realm, principal }: NonNullable<MoreOfMetastore['kerberos']>): Record<string, string> {
  return {
    'hive.metastore.sasl.enabled': 'true',
    'hive.metastore.kerberos.principal': `${principal}@${realm.realm}`,
    'hive.metastore.kerberos.keytab.file': realm.keytab,
  };
}

function loginSettings({ kerberos }: MoreOfMetastore): Record<string, string> {
  if (!kerberos) return {};
  return { 'hadoop.security.authentication': 'kerberos', 'hadoop.rpc.protection': kerberos.protection };
}

function isOpen(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}

function seconds(): number {
  return Math.floor(Date.now() / 1000);
}
