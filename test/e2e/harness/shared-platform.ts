import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tryLock } from '../../../libs/node-agent/processes';
import { eventually } from '../../harness/eventually';
import { freePort } from '../../../scripts/embedded/ports.mjs';
import type { ApiClient } from './api-client';
import { destroyCluster } from './estate';
import { clientOf, createTenant, createUser, ROLE_ID } from './people';
import { Platform, PlatformUnderTest, type RunningPlatform } from './platform';

/** Long enough for another file that is starting the platform. */
const START_LIMIT_MS = 180_000;

/** Statuses in which a cluster can be destroyed. */
const AT_REST = ['RUNNING', 'STOPPED', 'ERROR'];

/** Environment of each jest project's platform, beyond the defaults. Shortened times must do no harm under load. */
export const SHARED_SETTINGS = {
  e2e: {
    API_DOCS: 'true',
    CONSOLE: 'true',
    // The same prices as in the quickstart.
    BILLING_UNIT_PRICES: '2000-01-01:0.05:USD',
    // No test keeps a script waiting this long, and a script that hangs need not hang for ten minutes.
    BOOTSTRAP_TIMEOUT_MS: '15000',
    LOG_MAX_BYTES: String(1024 * 1024),
    OUTBOX_POLL_MS: '1000',
    RECONCILE_INTERVAL_MS: '1000',
    // Spark needs a part of this time on a busy machine; a process that ignores SIGTERM takes all of it.
    RUN_KILL_GRACE_MS: '20000',
  },
  stores: {},
};

/** The running platform of a project, written by the file that starts it and read by the others. */
interface Started extends RunningPlatform {
  /** The port of the platform's Maven repository, which a file serves. */
  mavenPort: number;
}

/**
 * A tenant of a platform that all files of a jest project share: the first file that needs it starts it, and the end of the
 * project ends it (test/setup/shared-platforms.cjs). Nodes, processes and folders are those of the tenant alone. `close`
 * destroys the clusters of the tenant and throws if processes are left.
 */
export class SharedPlatform extends Platform {
  readonly username = `${this.name}-admin`;
  override readonly sharedDir = join(this.site.sharedDir, this.name);
  readonly mavenPort = this.started.mavenPort;
  tenantId = '';

  private constructor(
    private readonly name: string,
    private readonly started: Started,
  ) {
    super(started.site);
    mkdirSync(this.sharedDir, { mode: 0o777 });
    // `mkdirSync` applies the umask to the mode, `chmodSync` does not.
    chmodSync(this.sharedDir, 0o777);
  }

  /** @param name of the tenant; each file has its own */
  static async join(project: keyof typeof SHARED_SETTINGS, name: string): Promise<SharedPlatform> {
    const platform = new SharedPlatform(name, await startedOnce(project));
    await platform.database.connect();
    platform.tenantId = await createTenant(platform, name);
    const user = await createUser(platform, platform.username, 'ADMIN', [platform.tenantId]);
    await platform.sql('INSERT INTO user_roles (user_id, role_id) VALUES ($1, $2)', [user, ROLE_ID['PLATFORM ADMIN']]);
    return platform;
  }

  /** Returns a client of the tenant's administrator, who is PLATFORM ADMIN, too, as in a new installation. */
  async admin(): Promise<ApiClient> {
    const client = await clientOf(this, this.username);
    await client.selectTenant(this.tenantId);
    return client;
  }

  async nodeProcesses() {
    const tokens = await this.nodeTokens();
    return this.processesNaming((text) => tokens.some((token) => text.includes(`${this.localDir}/${token}`)));
  }

  async nodeFolders() {
    const tokens = await this.nodeTokens();
    return this.foldersOfNodes().filter((name) => tokens.some((token) => name.includes(token)));
  }

  async close(): Promise<void> {
    try {
      await this.destroyClusters();
      await this.assertNothingLeft();
    } finally {
      await this.database.end();
    }
  }

  /** Returns the tokens of all nodes that the tenant ever had. */
  private async nodeTokens(): Promise<string[]> {
    const sql = 'SELECT token::text FROM cluster_nodes WHERE tenant_id = $1';
    return (await this.sql<{ token: string }>(sql, [this.tenantId])).map(({ token }) => token);
  }

  private async destroyClusters(): Promise<void> {
    const folders = await this.nodeFolders();
    if (folders.length === 0) return;
    const sql = 'SELECT DISTINCT cluster_id::int AS id FROM cluster_nodes WHERE token::text = ANY ($1)';
    const found = await this.sql<{ id: number }>(sql, [folders]);
    const admin = await this.admin();
    const destroy = async ({ id }: { id: number }) => {
      const status = async () => (await admin.get('/cluster', { cluster_id: id })).cluster_status as string;
      const isAtRest = async () => AT_REST.includes(await status());
      await eventually(isAtRest, { timeoutMs: 240_000, what: `cluster ${id} at rest` });
      await destroyCluster(admin, id);
    };
    await Promise.all(found.map(destroy));
  }
}

/** Returns the platform of the project; the first caller starts it. */
async function startedOnce(project: keyof typeof SHARED_SETTINGS): Promise<Started> {
  const folder = process.env['TEST_PLATFORMS_DIR'] ?? '';
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${project}.json`);
  const lock = () => tryLock(join(folder, `${project}.lock`));
  const unlock = await eventually(lock, { timeoutMs: START_LIMIT_MS, what: `the lock of the platform of ${project}` });
  try {
    if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as Started;
    const mavenPort = await freePort();
    const env = { ...SHARED_SETTINGS[project], MAVEN_REPOSITORY_URL: `http://127.0.0.1:${mavenPort}/maven/` };
    const platform = await PlatformUnderTest.start({ name: project, env, agentsApart: true });
    const started = { ...(await platform.leave()), mavenPort };
    writeFileSync(`${file}.new`, JSON.stringify(started), { mode: 0o600 });
    renameSync(`${file}.new`, file);
    return started;
  } finally {
    await unlock();
  }
}
