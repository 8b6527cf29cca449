import { writeFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GlueClient, paginateGetTables } from '@aws-sdk/client-glue';
import { memoryGrowth } from './memory.mjs';
import { percentile } from './percentile.mjs';
import { ask, MeasuringProcesses } from './processes.mjs';
import { loadTesting } from './testing.mjs';

const SERVER = fileURLToPath(new URL('./metastore-server.mjs', import.meta.url));

const TABLES = Array.from({ length: 10_000 }, (_, index) => `t_${String(index).padStart(5, '0')}`);
const PAGE = 100;
const COLUMNS = 20;
const SCHEMA = 'sales';

/** The catalog that the fake serves. */
const UNITY_CATALOG = 'main';
/** Latency of a call to a cloud. */
const CLOUD_LATENCY_MS = 50;
/** Catalogs that are listed to measure the memory of their caches. */
const CATALOGS = 100;

const LOAD_SECONDS = 4;
/** Pages of Hive that are refreshed for one figure, which is their median: each takes a tenth of a second. */
const HIVE_PAGES = 9;

/** The secrets of the fakes, as requests create them. */
const UNITY_SECRET = { secret_type: 'DATABRICKS UNITY TOKEN', token: 'any' };
const GLUE_SECRET = {
  secret_type: 'AWS ACCESS SECRET KEY PAIR',
  aws_access_key_id: 'AKIAEXAMPLE',
  aws_secret_access_key: 'any',
  aws_default_region: 'eu-west-1',
};

/**
 * The differences between metastores.
 * @typedef {object} MetastoreCase
 * @property {'hive' | 'unity' | 'glue'} name
 * @property {string} title names the tables
 * @property {Record<string, string>} [secret] attached to the catalog; absent if the metastore needs none
 * @property {'metastore' | 'object_storage'} [opens] how the secret is attached
 * @property {boolean} [isQuick] limits the slowest first page. Clouds list a hundred tables at a time, so the slowest list there
 *   depends on a hundred responses.
 * @property {(bench: MetastoreBench) => Promise<Served>} serve
 *
 * @typedef {object} Served
 * @property {object} details of a catalog, beside its name
 * @property {() => Promise<number>} bare milliseconds of the same calls by a client without a platform
 *
 * Measurements of one metastore.
 * @typedef {object} Browsed
 * @property {Sides} cold milliseconds to the first page with a refresh, against the same calls by a bare client
 * @property {() => Promise<number>} page 99th percentile in milliseconds of responses with that page from the cache
 * @property {() => Promise<number>} names the same for the names of all tables
 *
 * @typedef {import('./comparison.mjs').Sides} Sides
 * @typedef {import('./metastore-server.mjs').Instructions} Instructions
 * @typedef {import('./platform-under-bench.mjs').PlatformUnderBench} PlatformUnderBench
 * @typedef {import('../../test/harness/hive-metastore.js').HiveMetastore} HiveMetastore
 */

/** @type {readonly MetastoreCase[]} */
const CASES = [
  {
    name: 'hive',
    title: 'of a Hive metastore',
    isQuick: true,
    serve: async (bench) => {
      const metastore = await bench.startHive();
      const property = `<property><name>hive.metastore.uris</name><value>${metastore.uri}</value></property>`;
      return {
        details: { hiveSiteXml: `<configuration>${property}</configuration>` },
        bare: medianOf(() => pageByThrift(metastore)),
      };
    },
  },
  {
    name: 'unity',
    title: 'of Unity, 50 ms an answer',
    secret: UNITY_SECRET,
    opens: 'metastore',
    serve: async (bench) => {
      const url = await bench.startServer({ kind: 'unity', key: UNITY_SECRET.token });
      return { details: unityDetails(url), bare: () => listByRest(url, bench.connections) };
    },
  },
  {
    name: 'glue',
    title: 'of AWS Glue, 50 ms an answer',
    secret: GLUE_SECRET,
    opens: 'object_storage',
    serve: async (bench) => {
      const { gluePort: port } = bench.platform;
      const client = bench.glueClient(
        await bench.startServer({ kind: 'glue', key: GLUE_SECRET.aws_access_key_id, port }),
      );
      return { details: {}, bare: () => listBySdk(client) };
    },
  },
];

/** @param {string} endpoint */
function unityDetails(endpoint) {
  return { endpoint, default_catalog: UNITY_CATALOG, storage_path: 's3://bench/unity' };
}

/**
 * Prepares a Hive metastore and fakes of Unity Catalog and AWS Glue, each with 10,000 tables in one schema, and their catalogs.
 * @param {PlatformUnderBench} platform
 * @param {AbortSignal} signal
 * @returns {Promise<MetastoreBench>}
 */
export async function prepareMetastores(platform, signal) {
  const bench = new MetastoreBench(platform, signal);
  try {
    await bench.prepare();
    return bench;
  } catch (error) {
    await bench.close();
    throw error;
  }
}

class MetastoreBench {
  connections = new Agent({ keepAlive: true, maxSockets: 1 });
  /** @type {(MetastoreCase & {browsed: Browsed})[]} */
  metastores = [];
  #made = 0;
  /** @type {Map<MetastoreCase, number>} */
  #secrets = new Map();
  /** @type {(() => unknown)[]} */
  #undo = [() => this.connections.destroy()];

  /** @param {PlatformUnderBench} platform @param {AbortSignal} signal */
  constructor(platform, signal) {
    this.platform = platform;
    this.processes = new MeasuringProcesses(signal);
    this.#undo.push(() => this.processes.close());
    this.load = this.processes.startLoad();
  }

  async prepare() {
    for (const metastore of CASES) {
      const { details, bare } = await metastore.serve(this);
      const id = await this.#catalog(metastore, details);
      this.metastores.push({ ...metastore, browsed: this.#browsed(metastore, id, bare) });
    }
  }

  /** @returns {Promise<number>} memory growth of the API in MiB while 100 catalogs of Unity are listed */
  async growth() {
    const { platform } = this;
    const unity = /** @type {MetastoreCase} */ (CASES.find(({ name }) => name === 'unity'));
    const url = await this.startServer({ kind: 'unity', key: UNITY_SECRET.token, latencyMs: 0, columns: 2 });
    const ids = [];
    for (let count = 0; count <= CATALOGS; count += 1) ids.push(await this.#catalog(unity, unityDetails(url)));
    const [first = 0, ...others] = ids;
    /** @param {number} id */
    const pageOf = (id) => this.#pathOf(id, 'tables', { schema_name: SCHEMA, limit: PAGE });
    // The measurements before have left free room in the memory of the process.
    await platform.restart();
    await platform.look(pageOf(first));
    return memoryGrowth(platform.apiPid(), async () => {
      for (const id of others) await platform.look(pageOf(id));
    });
  }

  async close() {
    await Promise.all(this.#undo.map((undo) => undo()));
  }

  /** @param {Pick<Instructions, 'kind' | 'key'> & Partial<Instructions>} instructions @returns {Promise<string>} URL */
  async startServer(instructions) {
    const usual = { schema: SCHEMA, tables: TABLES, columns: COLUMNS, latencyMs: CLOUD_LATENCY_MS, port: 0 };
    return (await ask(this.processes.start(SERVER), { ...usual, ...instructions })).url;
  }

  /** @param {string} endpoint */
  glueClient(endpoint) {
    const { aws_access_key_id: accessKeyId, aws_secret_access_key: secretAccessKey } = GLUE_SECRET;
    const credentials = { accessKeyId, secretAccessKey };
    const client = new GlueClient({ endpoint, region: GLUE_SECRET.aws_default_region, credentials });
    this.#undo.push(() => client.destroy());
    return client;
  }

  /** Takes more than a minute. @returns {Promise<HiveMetastore>} */
  async startHive() {
    const { folder, runtime } = this.platform;
    const file = join(folder, 'runtime.json');
    writeFileSync(file, JSON.stringify({ javaHome: runtime.javaHome, sparkHome: runtime.sparkHome }));
    process.env.TEST_RUNTIME_JSON = file;
    /** @type {typeof import('../../test/harness/hive-metastore.js')} */
    const testing = await loadTesting('harness/hive-metastore');
    const metastore = await testing.HiveMetastore.start();
    this.#undo.push(() => metastore.stop());
    await metastore.createDatabase(SCHEMA);
    const cols = Array.from({ length: COLUMNS }, (_, at) => ({ name: `column_${at}`, type: 'bigint', comment: null }));
    // Only the tables of the first page are read with their columns.
    const details = (/** @type {number} */ at) => (at < PAGE ? { sd: { cols } } : {});
    await metastore.createTables(
      SCHEMA,
      TABLES.map((tableName, at) => ({ tableName, ...details(at) })),
    );
    return metastore;
  }

  /** Creates a catalog with the secret that opens it. @param {MetastoreCase} metastore @param {object} details @returns {Promise<number>} its id */
  async #catalog(metastore, details) {
    const { name, opens } = metastore;
    const { session } = this.platform;
    this.#made += 1;
    const body = { name: `bench-${name}-${this.#made}`, ...details };
    const made = await session.json('POST', `/metastore/catalog/${name}`, { body });
    const id = Number(made.metastore_catalog_id);
    if (opens !== undefined) {
      const attached = { metastore_catalog_id: id, [`${opens}_secrets_tenant_id`]: await this.#secretOf(metastore) };
      await session.json('POST', '/metastore/catalog/secret/tenant', { body: attached });
    }
    return id;
  }

  /** Creates the secret once. @param {MetastoreCase} metastore */
  async #secretOf(metastore) {
    const known = this.#secrets.get(metastore);
    if (known !== undefined) return known;
    const body = { name: `bench-${metastore.name}`, ...metastore.secret };
    const made = await this.platform.session.json('POST', '/tenant/secret', { body });
    const id = Number(made.tenant_secret_id);
    this.#secrets.set(metastore, id);
    return id;
  }

  /** @param {MetastoreCase} metastore @param {number} id of a catalog @param {() => Promise<number>} bare @returns {Browsed} */
  #browsed({ isQuick = false }, id, bare) {
    const { platform } = this;
    const page = { schema_name: SCHEMA, limit: PAGE };
    const anew = async () => {
      const path = this.#pathOf(id, 'tables', { ...page, refresh: true });
      const started = performance.now();
      const tables = await platform.look(path);
      const ms = performance.now() - started;
      if (tables.length !== PAGE || tables[0].owner === null) throw new Error('The page has no details of 100 tables.');
      return ms;
    };
    return {
      cold: { baseline: bare, product: isQuick ? medianOf(anew) : anew },
      page: () => this.#p99(this.#pathOf(id, 'tables', page)),
      names: () => this.#p99(this.#pathOf(id, 'table_summaries', {})),
    };
  }

  /** @param {string} path */
  async #p99(path) {
    const { platform } = this;
    await platform.look(path);
    const port = Number(new URL(platform.session.baseUrl).port);
    const headers = { authorization: `Bearer ${platform.session.token}` };
    const answers = await this.load({ port, path: `/api/v1${path}`, headers, connections: 1, seconds: LOAD_SECONDS });
    const mean = (1_000 / answers.perSecond).toFixed(1);
    platform.print(
      `metastore: ${path.replace(/\?.*/, '')} takes ${mean} ms on average, p99 ${answers.p99.toFixed(1)} ms`,
    );
    return answers.p99;
  }

  /** @param {number} id of a catalog @param {string} what @param {Record<string, string | number | boolean>} query */
  #pathOf(id, what, query) {
    const params = new URLSearchParams({ workspace_id: String(this.platform.workspaceId) });
    for (const [key, value] of Object.entries(query)) params.set(key, String(value));
    return `/metastore/${id}/${what}?${params.toString()}`;
  }
}

/** @param {() => Promise<number>} once @returns {() => Promise<number>} the median of some calls */
function medianOf(once) {
  return async () => {
    const times = [];
    for (let count = 0; count < HIVE_PAGES; count += 1) times.push(await once());
    return percentile(times, 0.5);
  };
}

/** Reads all names and the details of the first page over an open connection; milliseconds. @param {HiveMetastore} metastore */
function pageByThrift(metastore) {
  return metastore.call(async (call, hive) => {
    await call(hive.get_all_databases, {});
    const started = performance.now();
    const names = (await call(hive.get_all_tables, { db_name: SCHEMA })).sort();
    const page = { dbname: SCHEMA, tbl_names: names.slice(0, PAGE) };
    const tables = await call(hive.get_table_objects_by_name, page);
    const ms = performance.now() - started;
    if (names.length !== TABLES.length || tables.length !== PAGE) throw new Error('Hive does not list all tables.');
    return ms;
  });
}

/** Reads all pages of the list; milliseconds. @param {string} url @param {Agent} agent */
async function listByRest(url, agent) {
  const started = performance.now();
  let found = 0;
  /** @type {string | null} */
  let token = null;
  do {
    const place = new URL(`${url}/api/2.1/unity-catalog/tables`);
    const query = { catalog_name: UNITY_CATALOG, schema_name: SCHEMA, max_results: '0', omit_columns: 'true' };
    for (const [key, value] of Object.entries({ ...query, ...(token === null ? {} : { page_token: token }) }))
      place.searchParams.set(key, value);
    /** @type {{tables: object[], next_page_token: string | null}} */
    const page = await readJson(place, agent);
    found += page.tables.length;
    token = page.next_page_token;
  } while (token !== null);
  if (found !== TABLES.length) throw new Error(`Unity lists ${found} tables.`);
  return performance.now() - started;
}

/** Reads all pages of the list; milliseconds. @param {GlueClient} client */
async function listBySdk(client) {
  const started = performance.now();
  let found = 0;
  for await (const page of paginateGetTables({ client, pageSize: PAGE }, { DatabaseName: SCHEMA }))
    found += page.TableList?.length ?? 0;
  if (found !== TABLES.length) throw new Error(`Glue lists ${found} tables.`);
  return performance.now() - started;
}

/** @param {URL} url @param {Agent} agent @returns {Promise<any>} */
function readJson(url, agent) {
  const headers = { authorization: `Bearer ${UNITY_SECRET.token}` };
  return new Promise((resolve, reject) => {
    const request = get(url, { agent, headers }, (answer) => {
      /** @type {Buffer[]} */
      const parts = [];
      answer.on('data', (/** @type {Buffer} */ part) => parts.push(part));
      answer.on('error', reject);
      answer.on('end', () => {
        if (answer.statusCode === 200) resolve(JSON.parse(Buffer.concat(parts).toString('utf8')));
        else reject(new Error(`${url.pathname} was answered ${answer.statusCode}.`));
      });
    });
    request.setTimeout(30_000, () => request.destroy(new Error(`${url.pathname} was not answered.`)));
    request.on('error', reject);
  });
}
