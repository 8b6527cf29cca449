import { createOpenApiDocument } from '../../src/platform/http/openapi';
import { setProductName } from '../../src/platform/kernel/product/product-name';
import { type Answer, ApiClient, type Json } from '../e2e/harness/api-client';
import { clusterBody, describeEstate, type Estate } from '../e2e/harness/estate';
import { readRuntime } from '../e2e/harness/platform';
import { ADMIN_PASSWORD, LOCAL_NODES, wholeApi } from './harness/test-api';

// Real: the whole API over HTTP, and PostgreSQL and Redis.
const api = wholeApi({ ...LOCAL_NODES, PRODUCT_NAME: 'ACME' });
let admin: ApiClient;
let estate: Estate;

beforeAll(async () => {
  admin = new ApiClient(new URL(api.urlOf('/')).origin);
  await admin.loginToTenant('admin', ADMIN_PASSWORD);
  const [spark] = await api.database.query<{ id: number }[]>(
    'SELECT spark_infra_version_id::int AS id FROM spark_infra_versions WHERE spark_version = $1',
    [readRuntime().sparkVersion],
  );
  estate = await describeEstate(admin, spark?.id ?? 0);
});

afterAll(() => setProductName('PLATFORM'));

/** The committed document says PLATFORM, so responses with this name are not validated against it. */
async function call(method: string, path: string, json?: unknown): Promise<Pick<Answer<Json>, 'status' | 'body'>> {
  const response = await fetch(api.urlOf(path), {
    method,
    headers: { authorization: `Bearer ${admin.currentToken}`, 'content-type': 'application/json' },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
  });
  return { status: response.status, body: (await response.json()) as Json };
}

describe('with PRODUCT_NAME=ACME', () => {
  it('clusters are of type ACME', async () => {
    const made = await call('POST', '/cluster', clusterBody(estate, 'acme', { cluster_type: 'ACME' }));
    expect(made).toMatchObject({ status: 200, body: { cluster_type: 'ACME' } });
    const lower = await call('POST', '/cluster', clusterBody(estate, 'lower', { cluster_type: 'acme' }));
    expect(lower.body.cluster_type).toBe('ACME');
    const id = made.body.cluster_id;
    expect((await call('GET', `/cluster?cluster_id=${id}`)).body.cluster_type).toBe('ACME');
    const listed = await call('GET', '/clusters?cluster_types=ACME');
    expect(listed.body.data.map((cluster: Json) => cluster.cluster_type)).toEqual(['ACME', 'ACME']);
    const refused = await call('POST', '/cluster', clusterBody(estate, 'bad', { cluster_type: 'HADOOP' }));
    expect(refused.body.error_message).toContain('ACME, STANDALONE, CLUSTER');
  });

  it('the name PLATFORM means nothing', async () => {
    const refused = await call('POST', '/cluster', clusterBody(estate, 'platform', { cluster_type: 'PLATFORM' }));
    expect(refused).toMatchObject({ status: 400, body: { error_code: 'REQUEST.INVALID' } });
    expect((await call('GET', '/clusters?cluster_types=PLATFORM')).status).toBe(400);
  });

  it('jobs show it', async () => {
    const cluster = await call('POST', '/cluster', clusterBody(estate, 'jobs', { cluster_type: 'ACME' }));
    const workspace = await call('POST', '/workspace', { name: 'jobs' });
    const path = `/workspace/${workspace.body.workspace_id}/spark/job`;
    const conf = { name: 'conf', cluster_id: cluster.body.cluster_id, command: 'a.py' };
    const made = await call('POST', `${path}/conf`, { ...conf, acme_functions_script_path: 'a.py' });
    expect(made.status).toBe(200);
    expect(made.body).toHaveProperty('acme_functions_script_path');
    expect(JSON.stringify(made.body)).not.toMatch(/platform/i);
    const internal = { ...conf, name: 'other', platform_functions_script_path: 'a.py' };
    expect(await call('POST', `${path}/conf`, internal)).toMatchObject({
      status: 400,
      body: { error_message: expect.stringContaining('platform_functions_script_path is not a known field') },
    });
    const read = await call('GET', `${path}/conf?job_conf_name=conf`);
    expect(read.body.cluster_info.cluster_type).toBe('ACME');
    expect(read.body).toHaveProperty('acme_functions_script_path');
    expect(JSON.stringify(read.body)).not.toMatch(/platform_/i);
  });

  it('lookups show it', async () => {
    const names = async (path: string, field = 'name') =>
      ((await call('GET', path)).body as Json[]).map((row) => row[field] as string);
    expect(await names('/lookup_cluster_type')).toContain('ACME');
    expect(await names('/lookup_spark_compute_type')).toEqual(['ACME']);
    expect(await names('/lookup_spark_job_type')).toContain('ACME_FUNCTIONS');
    const [version] = (await call('GET', '/lookup_spark_infra_version')).body;
    expect(version).toHaveProperty('acme_functions_support');
    const paths = [
      'cluster_type',
      'spark_compute_type',
      'spark_job_type',
      'spark_job_type_lang',
      'spark_infra_version',
      'workflow_type',
    ];
    for (const path of paths) {
      const { status, body } = await call('GET', `/lookup_${path}`);
      expect(status).toBe(200);
      expect([path, JSON.stringify(body).match(/platform[._]|"platform"/i)]).toEqual([path, null]);
    }
  });

  it('the documentation shows it', () => {
    const document: Json = createOpenApiDocument(api.app, '1.0.0');
    const text = JSON.stringify(document);
    expect(document.components.schemas.ClusterType).toMatchObject({
      enum: ['ACME', 'STANDALONE', 'CLUSTER'],
      description: expect.stringContaining('- `ACME`: '),
    });
    expect(document.components.schemas.CreateJobConf.properties).toHaveProperty('acme_functions_script_path');
    expect(text).not.toContain('platform_functions_');
    expect(text).not.toContain('PLATFORM_FUNCTIONS');
  });
});
