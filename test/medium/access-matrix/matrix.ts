import { request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { INestApplication } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { BlobStore } from '../../../libs/object-storage/blob-store';
import { LogStore } from '../../../libs/object-storage/log-store';
import { CORRELATION_HEADER } from '../../../libs/contracts/agent-protocol';
import { createApi } from '../../../src/create-api';
import { AccessTokens } from '../../../src/modules/foundation/iam/sessions/access-tokens';
import { TenantSecretsService } from '../../../src/modules/foundation/secrets/tenant-secrets.service';
import { createOpenApiDocument } from '../../../src/platform/http/openapi';
import { createLogger, NestLogger } from '../../../src/platform/kernel/logging/logger';
import { MEMORY_S3_KEYS, MemoryS3 } from '../harness/memory-s3';
import { observeAnswers, unobserved } from '../harness/observed-answers';
import { configure, createTestDatabase, prepare, type TestDatabase } from '../harness/test-api';
import { type Answer, problemsOf } from './answer-checks';
import { type Caller, CallerMaker, CALLERS, type CallerSpec, type Tenants } from './callers';
import { type Cell, cellsOf, isAdmitted } from './cells';
import { type ExpectedOperation, readExpectedAccess } from './expected-access';
import { type Address, buildRequest, type BuiltRequest, LEARNED_FROM, type Operation, operationsOf } from './requests';
import { TenantRecordsMaker } from './tenant-records';

export interface Failure {
  cell: string;
  problem: string;
}

interface RunOptions {
  /** Uses records that no other call uses, because the calls may change them. */
  fresh?: boolean;
  stopAtFirst?: boolean;
  /** Runs only these cells. */
  only?: (cell: Cell) => boolean;
  /** Runs these cells first. */
  likely?: (cell: Cell) => boolean;
}

/** Enables the endpoint local://. The API only reports its nodes and reads nothing from the directories. */
const LOCAL_NODES = {
  COMPUTE_LOCAL_ENABLED: 'true',
  COMPUTE_LOCAL_DIR: '/nodes',
  COMPUTE_LOCAL_SPARK_HOMES: '3.5.3=/spark',
  COMPUTE_LOCAL_JAVA_HOME: '/java',
  COMPUTE_LOCAL_PYTHON: '/python',
};

/** The price is valid from before the first usage. */
const PRICED = { BILLING_UNIT_PRICES: '2000-01-01:1:USD' };

const CONCURRENT_CALLS = 8;
/** Pairs of tenants created in one transaction. */
const PAIRS_PER_BATCH = 10;
const CONCURRENT_OPERATIONS = 4;

/** Concurrent calls reach the limits for expensive reads, such as searches of logs, on a busy machine; a read is then repeated. */
const MAX_ATTEMPTS = 20;
const RETRY_AFTER_MS = 1_000;

/** Operations that open a WebSocket. */
const SOCKETS = ['openKernelSocket', 'connectKernel'];

/** Operations that cannot succeed here, with their status for a valid request. */
const UNREACHABLE: Record<string, number> = {
  // Single sign-on is off, because passwords are checked here.
  completeSsoLogin: 404,
  // A hypervisor checks basic auth, and the request names none.
  checkCredentialsConf: 400,
  // The outbound policy forbids the server.
  fetchUnityCatalogs: 400,
  validateTenantSecret: 400,
  validateWorkspaceSecret: 400,
  validateUserSecret: 400,
  // Only a running instance has a kernel.
  ...Object.fromEntries(['startOrGetKernel', 'interruptKernel', 'restartKernel', ...SOCKETS].map((id) => [id, 409])),
  // The job serves no function.
  invokeFunction: 400,
  describeFunction: 400,
  // The job serves no SQL.
  thriftSql: 400,
  // The position is none.
  streamEvents: 400,
  // The catalog has no attached secret, or no catalogs of its own.
  ...Object.fromEntries(
    [
      ...['browseCatalogs', 'searchBrowseCatalogs', 'browseSchemas', 'searchBrowseSchemas', 'browseTables'],
      ...['searchBrowseTables', 'browseTableNames', 'browseColumns', 'browseTable', 'browseFunctions', 'browseVolumes'],
      'getTableDdl',
    ].map((id) => [id, 400]),
  ),
};

/** Operations that list what happens in the tenant: their calls run one by one, in tenants without other calls. */
const ALONE: ReadonlySet<string> = new Set(['listAuditEvents']);

/** The correlation id of the matrix' requests is this prefix and the operation id. */
export const CORRELATION_PREFIX = 'matrix.';

/** The whole API over a database of its own, and every possible call of it. */
export class AccessMatrix {
  cellCount = 0;
  private base: Promise<World> | null = null;
  private readonly learned: Record<string, unknown> = {};
  /** Worlds of fresh runs whose records are unchanged. */
  private readonly unharmed: World[] = [];
  private readonly unusedTenants: Tenants[] = [];
  private lastTenants: Promise<unknown> = Promise.resolve();
  private readonly expected = readExpectedAccess();

  private constructor(
    readonly app: INestApplication,
    readonly operations: Operation[],
    private readonly database: TestDatabase,
    private readonly store: MemoryS3,
    private readonly records: TenantRecordsMaker,
    private readonly callers: CallerMaker,
    private readonly baseUrl: string,
  ) {}

  static async start(): Promise<AccessMatrix> {
    const database = await createTestDatabase();
    // Every request reads its session, so that a mutation takes effect at once.
    const config = configure(database.url, {
      SESSION_CACHE_MS: '0',
      LOGIN_ATTEMPTS: '1000000',
      ...LOCAL_NODES,
      ...PRICED,
    });
    await prepare(config);
    const app = await createApi({ preview: false, http: config.http });
    app.use(observeAnswers);
    app.useLogger(new NestLogger(createLogger('matrix', 'fatal')));
    await app.listen(0, '127.0.0.1');
    const { port } = app.getHttpServer().address() as AddressInfo;
    const dataSource = app.get(DataSource);
    const store = await MemoryS3.start();
    const keys = { ...MEMORY_S3_KEYS, S3_ENDPOINT: store.url };
    const secrets = app.get(TenantSecretsService, { strict: false });
    const records = new TenantRecordsMaker(dataSource, app.get(BlobStore), app.get(LogStore), {
      store,
      seal: (tx, tenantId, id) => secrets.seal(tx, tenantId, 'credentials_confs', id, keys),
    });
    const callers = new CallerMaker(dataSource, app.get(AccessTokens, { strict: false }), config);
    await callers.makeLoginAccount();
    const operations = operationsOf(createOpenApiDocument(app, '0'));
    return new AccessMatrix(app, operations, database, store, records, callers, `http://127.0.0.1:${port}`);
  }

  async stop(): Promise<void> {
    await this.app.close();
    await this.store.stop();
    await this.database.drop();
  }

  /** Returns the served operations that expected-access.yaml lacks. */
  unexpected(): string[] {
    return this.operations.map(({ id }) => id).filter((id) => !this.expected.has(id));
  }

  private expectedOf(operation: Operation): ExpectedOperation {
    const expected = this.expected.get(operation.id);
    if (!expected) throw new Error(`expected-access.yaml has no entry for ${operation.id}`);
    return expected;
  }

  /** Makes every call of every operation and returns the failures. */
  async runAll(): Promise<Failure[]> {
    const found = await concurrently(this.operations, CONCURRENT_OPERATIONS, (operation) => this.run(operation));
    return found.flat();
  }

  /**
   * Makes every call of one operation: first those that must change nothing, then those of admitted callers on records
   * that no other call has changed.
   */
  async run(operation: Operation, options: RunOptions = {}): Promise<Failure[]> {
    const { fresh = false, stopAtFirst = false, only = () => true } = options;
    const cells = cellsOf(operation, this.expectedOf(operation)).filter(only);
    const [harmless, changing] = byHarm(operation, cells);
    const base = await this.baseWorld();
    const isAlone = ALONE.has(operation.id);
    const isFresh = fresh && operation.changes && !isAlone;
    const world = await this.worldFor(isAlone, isFresh, base);
    const failures: Failure[] = [];
    const done = () => stopAtFirst && failures.length > 0;
    const call = async (cell: Cell) => {
      if (!done()) failures.push(...(await this.call(cell, world, await world.caller(cell.caller))));
    };
    const [likely, others] = byLikelihood(harmless, options);
    // One by one: the first is mostly enough, and a caller costs more than its calls.
    await concurrently(likely, 1, call);
    await concurrently(others, isAlone ? 1 : CONCURRENT_CALLS, call);
    // Every call was refused as expected, so the records are unchanged.
    if (isFresh && failures.length === 0) this.unharmed.push(world);
    if (changing.length === 0 || done()) return failures;
    const shared = await this.newWorld();
    for (const cell of changing) {
      if (done()) break;
      const own = cell.expected === 'reached' ? await this.newWorld() : shared;
      const caller = await own.newCaller(cell.caller, cell.expected === 'reached');
      failures.push(...(await this.call(cell, own, caller)));
    }
    return failures;
  }

  /** Returns the response to an admitted caller, whose request is valid but for the change. */
  async answerTo(operation: Operation, change: (request: BuiltRequest) => BuiltRequest): Promise<Answer> {
    const cell = cellsOf(operation, this.expectedOf(operation)).find(({ expected }) => expected === 'reached');
    if (!cell) throw new Error(`Nobody may call ${operation.id}`);
    const world = await this.baseWorld();
    const caller = await world.caller(cell.caller);
    return this.send(operation, change(this.requestOf(cell, world, caller)), caller);
  }

  private async call(cell: Cell, world: World, caller: Caller): Promise<Failure[]> {
    this.cellCount += 1;
    const { operation, form, foreignAddresses: strange } = cell;
    const request = this.requestOf(cell, world, caller);
    const answer = await this.send(operation, request, caller);
    const expected = this.expectedOf(operation);
    const problems = problemsOf(cell, answer, expected, world.tenants, UNREACHABLE[operation.id]);
    const foreignNames = strange.map(({ name }) => name).join(', ');
    const name = `${operation.id} ${form.name}${foreignNames ? `, another tenant's ${foreignNames}` : ''}: ${cell.caller.name}`;
    return problems.map((problem) => ({
      cell: name,
      problem: `${problem}; ${request.method} ${request.path} answered ${answer.status} ${answer.text.slice(0, 300)}`,
    }));
  }

  private requestOf(
    { operation, form, foreignAddresses: strange, expected }: Cell,
    { tenants }: World,
    caller: Caller,
  ): BuiltRequest {
    const side = caller.spec.session ?? 'own';
    const other = side === 'own' ? 'foreign' : 'own';
    const recordsFor = (address: Address) => tenants[strange.includes(address) ? other : side];
    const toSucceed = expected === 'reached' ? caller.own : null;
    return buildRequest(operation, form, { caller: side, recordsFor, learned: this.learned, toSucceed });
  }

  private async send(operation: Operation, request: BuiltRequest, caller: Caller): Promise<Answer> {
    if (SOCKETS.includes(operation.id)) return this.handshake(operation, request, caller);
    for (let attempt = 1; ; attempt++) {
      const answer = await this.sendOnce(operation, request, caller);
      if (answer.status !== 429 || request.method !== 'GET' || attempt === MAX_ATTEMPTS) return answer;
      await delay(RETRY_AFTER_MS);
    }
  }

  private async sendOnce(operation: Operation, request: BuiltRequest, caller: Caller): Promise<Answer> {
    const response = await fetch(this.baseUrl + request.path, {
      method: request.method,
      headers: {
        ...(caller.token === null ? {} : { authorization: `Bearer ${caller.token}` }),
        ...request.headers,
        [CORRELATION_HEADER]: CORRELATION_PREFIX + operation.id,
      },
      body: request.body,
    });
    return { status: response.status, text: await response.text(), sent: request.sent };
  }

  /** Requests a WebSocket with the caller's token, at the end of the path if that names one. */
  private handshake({ id, path: form }: Operation, built: BuiltRequest, caller: Caller): Promise<Answer> {
    const inPath = form.endsWith('{token}');
    const path = inPath ? built.path.replace(/[^/]+\/[^/]+$/, `any_session/${caller.token ?? 'none'}`) : built.path;
    const headers = {
      ...(inPath || caller.token === null ? {} : { authorization: `Bearer ${caller.token}` }),
      ...{ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' },
      'sec-websocket-key': Buffer.alloc(16).toString('base64'),
      [CORRELATION_HEADER]: CORRELATION_PREFIX + id,
    };
    return new Promise((resolve, reject) => {
      const asked = httpRequest(this.baseUrl + path, { headers, agent: false });
      const answer = (status: number, text: string) => resolve({ status, text, sent: built.sent });
      asked.on('upgrade', (_response, socket) => {
        socket.destroy();
        answer(101, '');
      });
      asked.on('response', (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => answer(response.statusCode ?? 0, Buffer.concat(chunks).toString()));
      });
      asked.on('error', reject).end();
    });
  }

  private baseWorld(): Promise<World> {
    return (this.base ??= this.newWorld({ callersHaveRecords: true }).then(async (world) => {
      // All at once: a user who joined the tenant later would change its lists while others read them.
      for (const caller of CALLERS) await world.caller(caller);
      await this.learn(world);
      return world;
    }));
  }

  /** Reads ids that the API derives from its own declarations. */
  private async learn(world: World): Promise<void> {
    const [admin] = CALLERS;
    const token = admin && (await world.caller(admin)).token;
    for (const [name, list] of Object.entries(LEARNED_FROM)) {
      const operation = this.operations.find(({ id }) => id === list);
      if (!operation) continue;
      const response = await fetch(this.baseUrl + operation.path, { headers: { authorization: `Bearer ${token}` } });
      const [first] = (await response.json()) as Record<string, unknown>[];
      this.learned[name] = first?.[name];
    }
  }

  private async worldFor(isAlone: boolean, isFresh: boolean, base: World): Promise<World> {
    if (isAlone) return this.newWorld();
    return isFresh ? (this.unharmed.pop() ?? (await this.newWorld())) : base;
  }

  private async newWorld({ callersHaveRecords = false } = {}): Promise<World> {
    return new World(await this.newTenants(), this.callers, callersHaveRecords);
  }

  /** Waits for earlier requests, and uses the tenants that they leave first. */
  private newTenants(): Promise<Tenants> {
    const next = this.lastTenants.then(async () => {
      if (this.unusedTenants.length === 0) this.unusedTenants.push(...(await this.records.make(PAIRS_PER_BATCH)));
      return this.unusedTenants.pop()!;
    });
    this.lastTenants = next;
    return next;
  }
}

function byLikelihood(cells: Cell[], { likely = () => false }: RunOptions): [Cell[], Cell[]] {
  return [cells.filter(likely), cells.filter((cell) => !likely(cell))];
}

/** Splits the cells into those that change nothing if the response is as expected, and the others. */
function byHarm(operation: Operation, cells: Cell[]): [Cell[], Cell[]] {
  const isHarmless = ({ expected }: Cell) => !operation.changes || !isAdmitted(expected);
  return [cells.filter(isHarmless), cells.filter((cell) => !isHarmless(cell))];
}

/** Two tenants and the callers. */
class World {
  private readonly known = new Map<string, Promise<Caller>>();

  constructor(
    readonly tenants: Tenants,
    private readonly callers: CallerMaker,
    private readonly callersHaveRecords: boolean,
  ) {}

  /** Returns the caller, which is created at its first call. */
  caller(spec: CallerSpec): Promise<Caller> {
    const caller = this.known.get(spec.name) ?? this.newCaller(spec, this.callersHaveRecords);
    this.known.set(spec.name, caller);
    return caller;
  }

  /** Creates a caller with an account and a session of its own. */
  newCaller(spec: CallerSpec, hasRecords: boolean): Promise<Caller> {
    return this.callers.make(spec, this.tenants, hasRecords);
  }
}

/** Runs the operations of an API that was broken to see it fail, in turn, and returns the first failing cell, or null. */
export function firstFailure(
  matrix: AccessMatrix,
  operationIds: Iterable<string>,
  options: Pick<RunOptions, 'only' | 'likely'> = {},
): Promise<Failure | null> {
  const wanted = new Set(operationIds);
  return unobserved(async () => {
    for (const operation of matrix.operations.filter(({ id }) => wanted.has(id))) {
      const [failure] = await matrix.run(operation, { fresh: true, stopAtFirst: true, ...options });
      if (failure) return failure;
    }
    return null;
  });
}

/** Runs `fn` for every item, at most `limit` at once. */
export async function concurrently<T, R>(
  items: readonly T[],
  limit: number,
  fn: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const queue = [...items.entries()];
  const worker = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) results[next[0]] = await fn(next[1]);
  };
  await Promise.all(Array.from({ length: limit }, worker));
  return results;
}
