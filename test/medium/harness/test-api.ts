import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { type INestApplication, Module, type Type } from '@nestjs/common';
import { APP_FILTER, NestFactory } from '@nestjs/core';
import { DataSource } from 'typeorm';
import { eventually } from '../../harness/eventually';
import { Config } from '../../../src/config/config';
import { createApi } from '../../../src/create-api';
import { createDataSource } from '../../../src/database/data-source';
import { prepareDatabase } from '../../../src/database/prepare-database';
import { GUARDS } from '../../../src/platform/http/auth/guards';
import { WORKSPACE_AUTHORIZER } from '../../../src/platform/http/auth/authentication';
import { ErrorFilter } from '../../../src/platform/http/error.filter';
import { HttpModule } from '../../../src/platform/http/http.module';
import { API_PREFIX } from '../../../src/platform/http/openapi';
import { requestContextMiddleware } from '../../../src/platform/http/request-context.middleware';
import { RankedRoutesAdapter } from '../../../src/platform/http/ranked-routes.adapter';
import { createValidationPipe } from '../../../src/platform/http/validation';
import { createLogger } from '../../../src/platform/kernel/logging/logger';
import { PlatformModule } from '../../../src/platform/platform.module';
import { PgListener, type NotificationChannel } from '../../../src/platform/kernel/notifications/pg-listener';
import { assertErrorsDocumented, comparedCall } from './documented-errors';
import { observeAnswers } from './observed-answers';
import { createTestDatabase, plannedTestDatabase, type TestDatabase } from '../../harness/test-databases';

export { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../../harness/test-databases';

export const ADMIN_PASSWORD = 'the password of the first administrator';

/** Admits environments with local nodes. No node is created, because no worker runs. */
export const LOCAL_NODES = {
  COMPUTE_LOCAL_ENABLED: 'true',
  COMPUTE_LOCAL_DIR: '/nodes',
  COMPUTE_LOCAL_SPARK_HOMES: '3.5.3=/spark',
  COMPUTE_LOCAL_JAVA_HOME: '/java',
  COMPUTE_LOCAL_PYTHON: '/python',
};

/** Sets the environment that the configuration reads. All APIs of a test file share their signing keys. */
export function configure(databaseUrl: string, more: Record<string, string> = {}): Config {
  Object.assign(process.env, {
    NODE_ENV: 'test',
    LOG_LEVEL: 'fatal',
    DATABASE_URL: databaseUrl,
    REDIS_URL: required('TEST_REDIS_URL'),
    REDIS_PREFIX: `medium-${randomBytes(6).toString('hex')}`,
    // On a busy machine, a request that waits for a lock must not time out.
    DATABASE_LOCK_TIMEOUT_MS: '25000',
    DATA_DIR: required('TMPDIR'),
    AUTH_JWT_KEYS: process.env['AUTH_JWT_KEYS'] ?? `first:${randomBytes(32).toString('base64')}`,
    SECRETS_MASTER_KEYS: `master:${randomBytes(32).toString('base64')}`,
    OUTBOUND_SCHEMES: 'https,http',
    OUTBOUND_ADDRESSES: 'private,loopback',
    BOOTSTRAP_ADMIN_PASSWORD: ADMIN_PASSWORD,
    ...more,
  });
  return Config.load();
}

/** Migrates and seeds the configured database as the API does when it starts. */
export async function prepare(config: Config): Promise<void> {
  const dataSource = await createDataSource(config.database, 'test').initialize();
  try {
    await prepareDatabase(dataSource, config, createLogger('test', 'fatal'));
  } finally {
    await dataSource.destroy();
  }
}

export interface TestAnswer {
  status: number;
  headers: Headers;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a document that each test gives its own shape
  body: any;
}

/** The HTTP side of some modules, with the guards, pipes and filters of the API. */
export class TestApi {
  private served: { app: INestApplication; baseUrl: string } | null = null;

  /** An application that does not listen yet, so that the caller can change it first. */
  constructor(private readonly make: () => Promise<INestApplication>) {}

  static start(modules: Type[]): Promise<TestApi> {
    return new TestApi(() => TestApi.appOf(modules)).open();
  }

  /** The API as it is served, all domains included. */
  static startWhole(config: Config, more: readonly Type[] = []): Promise<TestApi> {
    return new TestApi(() => TestApi.wholeApp(config, more)).open();
  }

  static async appOf(modules: Type[]): Promise<INestApplication> {
    @Module({
      imports: [PlatformModule.of('api'), HttpModule, ...modules],
      providers: [
        ...GUARDS,
        { provide: APP_FILTER, useClass: ErrorFilter },
        { provide: WORKSPACE_AUTHORIZER, useValue: {} },
      ],
    })
    class TestModule {}
    const options = { bodyParser: false, abortOnError: false, logger: false } as const;
    const app = await NestFactory.create(TestModule, new RankedRoutesAdapter(), options);
    app.use(observeAnswers);
    app.use(requestContextMiddleware);
    app.setGlobalPrefix(API_PREFIX);
    app.useGlobalPipes(createValidationPipe());
    return app;
  }

  static async wholeApp(config: Config, more: readonly Type[]): Promise<INestApplication> {
    const app = await createApi({ preview: false, http: config.http, more });
    app.use(observeAnswers);
    app.useLogger(false);
    return app;
  }

  async open(): Promise<this> {
    const app = await this.make();
    try {
      await app.listen(0, '127.0.0.1');
    } catch (error) {
      // Open connections would outlive the test.
      await app.close();
      throw error;
    }
    const { port } = app.getHttpServer().address() as AddressInfo;
    this.served = { app, baseUrl: `http://127.0.0.1:${port}/${API_PREFIX}` };
    return this;
  }

  get app(): INestApplication {
    return this.whenServed.app;
  }

  /** Collects the payloads of the notifications that this process receives on the channel from now on. */
  notifications(channel: NotificationChannel): string[] {
    const payloads: string[] = [];
    this.app.get(PgListener).on(channel, (payload) => payloads.push(payload));
    return payloads;
  }

  get database(): DataSource {
    return this.app.get(DataSource);
  }

  async stop(): Promise<void> {
    await this.close();
    assertErrorsDocumented();
  }

  /** Stops without looking at what was answered, for callers that have more to stop. */
  async close(): Promise<void> {
    await this.served?.app.close();
  }

  /** The base URL, for requests that {@link call} cannot send. */
  urlOf(path: string): string {
    return `${this.whenServed.baseUrl}${path}`;
  }

  async call(
    method: string,
    path: string,
    options: { token?: string; body?: unknown; headers?: Record<string, string> } = {},
  ): Promise<TestAnswer> {
    return comparedCall(async (headers) => {
      const response = await fetch(this.urlOf(path), {
        method,
        headers: {
          ...headers,
          ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
          ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
          ...options.headers,
        },
        body: options.body === undefined ? undefined : JSON.stringify(options.body),
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
    });
  }

  async login(username = 'admin', password = ADMIN_PASSWORD): Promise<string> {
    const { status, body } = await this.call('POST', '/login', { body: { username, password } });
    if (status !== 200) throw new Error(`Login answered ${status}: ${JSON.stringify(body)}`);
    return body.token as string;
  }

  private get whenServed() {
    if (!this.served) throw new Error('The API is not served yet: it can be used from beforeAll on');
    return this.served;
  }
}

/** Waits until the expectations in `check` hold. */
export async function soon(check: () => Promise<void>, timeoutMs?: number): Promise<void> {
  await eventually(
    async () => {
      await check();
      return true;
    },
    { timeoutMs },
  );
}

function required(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: jest.config.cjs prepares it`);
  return value;
}

/** The whole API over a database of its own, for the tests of the block in which this is called. */
export function wholeApi(environment: Record<string, string> = {}, more: readonly Type[] = []): TestApi {
  return served(1, environment, (config) => TestApi.wholeApp(config, more))[0]!;
}

/** The HTTP side of some modules over a database of its own, for the tests of the calling block. */
export function apiOf(modules: Type[], environment: Record<string, string> = {}): TestApi {
  return served(1, environment, () => TestApi.appOf(modules))[0]!;
}

/** Two pods with the same modules over one database. */
export function podsOf(modules: Type[], environment: Record<string, string> = {}): [TestApi, TestApi] {
  return served(2, environment, () => TestApi.appOf(modules)) as [TestApi, TestApi];
}

function served(
  count: number,
  environment: Record<string, string>,
  make: (config: Config) => Promise<INestApplication>,
): TestApi[] {
  const database = plannedTestDatabase();
  let config: Config;
  const pods = Array.from({ length: count }, () => new TestApi(() => make(config)));
  beforeAll(async () => {
    await database.create();
    config = configure(database.url, environment);
    await prepare(config);
    for (const pod of pods) await pod.open();
  });
  afterAll(async () => {
    for (const pod of pods) await pod.close();
    await database.drop();
    assertErrorsDocumented();
  });
  return pods;
}

/** A prepared database of its own and a connection to it, for the tests of the block in which this is called. */
export function preparedDatabase(environment: Record<string, string> = {}): { config: Config; dataSource: DataSource } {
  const database = plannedTestDatabase();
  const config = configure(database.url, environment);
  const dataSource = createDataSource(config.database, 'test');
  beforeAll(async () => {
    await database.create();
    await prepare(config);
    await dataSource.initialize();
  });
  afterAll(async () => {
    if (dataSource.isInitialized) await dataSource.destroy();
    await database.drop();
  });
  return { config, dataSource };
}

/** The API as it is served, over a database of its own. */
export async function startWholeApi(
  environment: Record<string, string> = {},
  more: readonly Type[] = [],
): Promise<{ api: TestApi; database: TestDatabase; stop(): Promise<void> }> {
  const database = await createTestDatabase();
  try {
    const config = configure(database.url, environment);
    await prepare(config);
    const api = await TestApi.startWhole(config, more);
    const stop = async () => {
      await api.close();
      await database.drop();
      assertErrorsDocumented();
    };
    return { api, database, stop };
  } catch (error) {
    await database.drop();
    throw error;
  }
}
