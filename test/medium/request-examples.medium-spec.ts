import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createOpenApiDocument } from '../../src/platform/http/openapi';
import { TAGS } from '../../src/platform/http/tags';
import { KINDS, operationName } from '../samples';
import { setClusterStatus } from './harness/statuses';
import { Cluster } from '../../src/modules/execution/clusters/model/entities/cluster.entity';
import { ADMIN_PASSWORD, wholeApi, type TestApi } from './harness/test-api';

type Body = Record<string, unknown>;

interface Described {
  operationId: string;
  tags: string[];
  requestBody?: { content: Record<string, { schema: { $ref?: string } }> };
}

interface Published {
  id: string;
  method: string;
  path: string;
  tag: string;
  example: Body | undefined;
}

/** Creates the records of the quickstart's demo, whose ids are in the examples. */
const DEMO = `
  import { associate, describeCluster, makeWorkspace, readLookups } from './scripts/demo/demo.mjs';
  import { login } from './scripts/demo/session.mjs';
  const { baseUrl, password, sparkVersion } = JSON.parse(process.env.DEMO);
  const session = await login({ baseUrl, username: 'admin', password });
  const lookups = await readLookups(session, sparkVersion);
  const clusterId = await describeCluster(session, lookups, { sparkVersion, productName: 'PLATFORM' });
  await associate(session, { workspaceId: await makeWorkspace(session), clusterId });
`;
const ROOT = join(__dirname, '..', '..');
const hasPrograms = [['curl', '--fail-with-body'], ['jq'], ['python3']].every(
  ([program = '', ...args]) => spawnSync(program, [...args, '--version']).status === 0,
);

/**
 * The parameters and bodies that requests need besides their examples, in the order of use. Parameters name what an example made. Kinds of records that
 * are not here have their two requests where their section is, see {@link stepsOf}.
 */
const STEPS: Record<string, string> = {
  login: '',
  createWorkspace: '',
  updateWorkspace: '?workspace_name=example-workspace',
  importWorkspace: '?workspace_id=1&cluster_id=1',
  createJobConf: '',
  updateJobConf: '?job_conf_name=example-job',
  createJob: '',
  createNotebookConf: '',
  updateNotebookConf: '?notebook_name=example-notebook',
  updateNotebookCells: '',
  createNotebook: '',
  checkCluster: '',
  createCluster: '',
  updateCluster: '?cluster_name=example-cluster',
  startCluster: '',
  resizeCluster: '',
  stopCluster: '',
  destroyCluster: '',
  disableCluster: '',
  enableCluster: '',
  createHiveCatalog: '',
  updateHiveCatalog: '?metastore_catalog_id=1',
  createGlueCatalog: '',
  updateGlueCatalog: '?metastore_catalog_id=2',
  createUnityCatalog: '',
  updateUnityCatalog: '?metastore_catalog_id=3',
  createTenantSecret: '',
  updateTenantSecret: '?tenant_secret_id=1',
  createWorkspaceSecret: '?workspace_id=1',
  updateWorkspaceSecret: '?workspace_id=1&workspace_secret_id=1',
  createUserSecret: '',
  updateUserSecret: '?user_secret_id=1',
  attachTenantCatalogSecret: '',
  updateTenantCatalogSecret: '',
  attachWorkspaceCatalogSecret: '',
  updateWorkspaceCatalogSecret: '',
  attachUserCatalogSecret: '',
  updateUserCatalogSecret: '',
  fetchUnityCatalogs: '',
  validateTenantSecret: '',
  validateWorkspaceSecret: '',
  validateUserSecret: '',
  createUser: '',
  updateUser: '{user_id}',
  setUserPassword: '{user_id}',
  changeMyPassword: '',
  createToken: '',
  createGroup: '',
  updateGroup: '{group_id}',
  assignWorkspaceUserPermission: '',
  assignWorkspaceGroupPermission: '',
  createTenant: '',
  updateTenant: '?tenant_name=example-tenant',
};

const SECTIONS = TAGS.map(({ name }) => name as string);
/** Changes the own password and creates an own token, once a user exists. */
const OUT_OF_ORDER = ['Current user', 'Personal tokens'];

/** Returns all steps: the named ones, and those that create and change a record of every other kind. */
function stepsOf(published: readonly Published[]): [string, string][] {
  const steps = Object.entries(STEPS);
  const sectionOf = (id: string) => {
    const tag = published.find((one) => one.id === id)?.tag ?? '';
    return OUT_OF_ORDER.includes(tag) ? Infinity : SECTIONS.indexOf(tag);
  };
  for (const [kind] of KINDS) {
    const [create, update] = [`create${operationName(kind)}`, `update${operationName(kind)}`];
    const example = published.find(({ id }) => id === create)?.example;
    if (create in STEPS || !example) continue;
    const before = steps.findLastIndex(([id]) => sectionOf(id) <= sectionOf(create));
    const named = `?${kind}_name=${encodeURIComponent(String(example['name']))}`;
    steps.splice(before + 1, 0, [create, ''], [update, named]);
  }
  return steps;
}

/** Operations that call an external server, which does not exist here. */
const NEED_SERVER: ReadonlySet<string> = new Set(['fetchUnityCatalogs']);

// Real: the whole API and PostgreSQL, with the reference data and the records of a fresh quickstart. In place of the
// worker, the test moves clusters to their target state.
describe('the examples of requests', () => {
  const { sparkVersion } = JSON.parse(readFileSync(process.env['TEST_RUNTIME_JSON'] ?? '', 'utf8')) as {
    sparkVersion: string;
  };
  const api = wholeApi({
    COMPUTE_LOCAL_ENABLED: 'true',
    COMPUTE_LOCAL_DIR: '/nodes',
    COMPUTE_LOCAL_SPARK_HOMES: `${sparkVersion}=/spark`,
    COMPUTE_LOCAL_JAVA_HOME: '/java',
    COMPUTE_LOCAL_PYTHON: '/python',
  });
  let published: Published[];
  let steps: [string, string][];

  beforeAll(async () => {
    published = publishedBy(api);
    steps = stepsOf(published);
    const demo = { baseUrl: new URL(api.urlOf('')).origin, password: ADMIN_PASSWORD, sparkVersion };
    const env = { ...process.env, DEMO: JSON.stringify(demo) };
    await promisify(execFile)(process.execPath, ['--input-type=module', '-e', DEMO], { cwd: ROOT, env });
  });

  it('exist for every JSON body', () => {
    expect(published.filter(({ example }) => example === undefined).map(({ id }) => id)).toEqual([]);
    expect(published.map(({ id }) => id).sort()).toEqual(steps.map(([id]) => id).sort());
  });

  it('are in the order of use', () => {
    const tags = steps.map(([id]) => SECTIONS.indexOf(published.find((one) => one.id === id)?.tag ?? ''));
    const inOrder = tags.filter((tag) => !OUT_OF_ORDER.includes(SECTIONS[tag] ?? ''));
    expect(inOrder).toEqual([...inOrder].sort((a, b) => a - b));
  });

  it('run unchanged against a fresh quickstart', async () => {
    const exampleOf = (id: string): Body => published.find((one) => one.id === id)?.example ?? {};
    const admin = await api.login('admin', ADMIN_PASSWORD);
    const ids: Record<string, string> = {};
    const failed: string[] = [];
    for (const [id, more] of steps) {
      const { method, path, example } = published.find((one) => one.id === id) ?? { method: '', path: '', example: {} };
      const named = path.replace('{workspace_id}', '1').replace(/\{(\w+)\}/, (_, name: string) => ids[name] ?? name);
      const isOwn = id === 'changeMyPassword';
      const { new_password: password } = exampleOf('setUserPassword');
      const token = isOwn ? await api.login(String(exampleOf('createUser').username), String(password)) : admin;
      // No document can know this part of an example.
      const body = id === 'login' ? { ...example, password: ADMIN_PASSWORD } : example;
      const url = named + (more.startsWith('?') ? more : '');
      const answer = await api.call(method, url, { token: id === 'login' ? undefined : token, body });
      const isAnswered = NEED_SERVER.has(id) ? answer.body?.error_code?.startsWith('METASTORE.') : answer.status < 300;
      if (!isAnswered) failed.push(`${id} ${url} ${answer.status} ${JSON.stringify(answer.body)}`);
      for (const name of ['user_id', 'group_id', 'notebook_conf_id'])
        if (answer.body?.[name]) ids[name] ??= String(answer.body[name]);
      await arrive(api);
    }
    expect(failed).toEqual([]);
  });

  // Not every machine has the programs that the pages require.
  if (hasPrograms) it('run as the README and the page on the API have them', asThePagesHaveThem);

  async function asThePagesHaveThem(): Promise<void> {
    const folder = mkdtempSync(join(tmpdir(), 'readme-'));
    try {
      await writeFilesOfQuickstart(join(folder, '.runtime'));
      let isOver = false;
      const ended = promisify(execFile)('sh', ['-euc', commandsOfPages()], { cwd: folder, timeout: 60_000 });
      const over = () => (isOver = true);
      ended.then(over, over);
      while (!isOver) {
        await api.database.query(
          `UPDATE runs SET ended_at = now(), status = 'DONE', reason = 'It is done.' WHERE ended_at IS NULL`,
        );
        await delay(100);
      }
      const { stdout } = await ended;
      expect(stdout).toMatch(/"file_name":"sum.py".*"name":"sum".*\nIt is done[.]\n.*"cluster_status": "RUNNING"/s);
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  /** Moves the cluster of the demo to RUNNING, as the quickstart does when it is ready. */
  async function writeFilesOfQuickstart(runtimeDir: string): Promise<void> {
    const { writeClientFile } = await import('../../scripts/demo/client-file.mjs');
    const { login } = await import('../../scripts/demo/session.mjs');
    mkdirSync(runtimeDir);
    const { manager } = api.database;
    const { cluster_id } = await manager.findOneByOrFail(Cluster, { name: `demo-spark-${sparkVersion}` });
    await setClusterStatus(manager, cluster_id, 'RUNNING');
    const baseUrl = new URL(api.urlOf('')).origin;
    const session = await login({ baseUrl, username: 'admin', password: ADMIN_PASSWORD });
    const ready = { base_url: baseUrl, username: 'admin', password: ADMIN_PASSWORD, tenant_id: session.tenantId };
    writeFileSync(join(runtimeDir, 'quickstart.json'), JSON.stringify(ready));
    const made = {
      username: 'admin',
      workspaceId: 1,
      clusterId: Number(cluster_id),
      javaHome: '/java',
      sparkHome: '/spark',
      connectors: '/connectors',
    };
    await writeClientFile(join(runtimeDir, 'client.env'), session, made);
  }

  it('use the Spark version of the quickstart', async () => {
    const { example } = published.find(({ id }) => id === 'createCluster') ?? {};
    const token = await api.login('admin', ADMIN_PASSWORD);
    const { body } = await api.call('GET', '/lookup_spark_infra_version', { token });
    const versions = body as { spark_infra_version_id: number; spark_version: string }[];
    const found = versions.find((version) => version.spark_infra_version_id === example?.['spark_infra_version_id']);
    expect(found?.spark_version).toBe(sparkVersion);
  });
});

/** Returns the commands of the README's first job and of the page on the API. Nothing here knows what jobs print. */
function commandsOfPages(): string {
  const page = (...path: string[]) => readFileSync(join(ROOT, ...path), 'utf8');
  const [, firstJob = ''] = /\n## First job\n(.*?)\n## /s.exec(page('README.md')) ?? [];
  const texts = [firstJob, page('docs', 'api.md')].join('\n');
  const blocks = [...texts.matchAll(/```sh\n(.*?)```/gs)].map(([, block = '']) => block);
  // The SDK is installed, and run against a platform, in `test/e2e/python-sdk.e2e-spec.ts`.
  const requests = blocks.filter((block) => !block.includes('pip install'));
  return requests.join('').replaceAll(/^.*\/log\/stdout.*$/gm, '');
}

function publishedBy(api: TestApi): Published[] {
  const document = createOpenApiDocument(api.app, '0');
  const schemas = (document.components?.schemas ?? {}) as Record<string, { example?: Body }>;
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item as Record<string, Described>).flatMap(([method, { operationId: id, tags, requestBody }]) => {
      const name = requestBody?.content['application/json']?.schema.$ref?.split('/').at(-1);
      if (name === undefined) return [];
      const own = { id, method: method.toUpperCase(), path, tag: tags[0] ?? '' };
      return [{ ...own, example: schemas[name]?.example }];
    }),
  );
}

async function arrive(api: TestApi): Promise<void> {
  const arrived = { INITIATING: 'RUNNING', STOPPING: 'STOPPED', DESTROYING: 'DESTROYED' } as const;
  const { manager } = api.database;
  for (const { cluster_id, status } of await manager.find(Cluster)) {
    if (status in arrived) await setClusterStatus(manager, cluster_id, arrived[status as keyof typeof arrived]);
  }
}
