import { IamApiModule } from '../../src/modules/foundation/iam/iam.api.module';
import { IamModule } from '../../src/modules/foundation/iam/iam.module';
import { ReferenceDataApiModule } from '../../src/modules/foundation/reference-data/reference-data.api.module';
import { EnvironmentsApiModule } from '../../src/modules/infrastructure/environments/environments.api.module';
import {
  readReferenceDataFiles,
  type ReferenceDataFiles,
} from '../../src/modules/foundation/reference-data/reference-data-files';
import { seedReferenceData } from '../../src/modules/foundation/reference-data/seed-reference-data';
import { soon, type TestAnswer, podsOf } from './harness/test-api';

/** Every lookup that returns a list, with the number of its records. */
const LISTS: [string, number][] = [
  ['/lookup_cloud_providers', 5],
  ['/lookup_disk_machine_type', 24],
  ['/lookup_machine_architecture_type', 2],
  ['/lookup_cloud_label_pattern', 5],
  ['/lookup_credential_type', 6],
  ['/lookup_cluster_type', 3],
  ['/lookup_engine_cluster_instance_status', 9],
  ['/lookup_engine_cluster_instance_node_status', 7],
  ['/lookup_spark_compute_type', 1],
  ['/lookup_spark_infra_version', 9],
  ['/lookup_spark_job_status', 9],
  ['/lookup_spark_job_type', 5],
  ['/lookup_spark_job_type_lang', 10],
  ['/lookup_workflow_execution_state', 9],
  ['/lookup_workflow_type', 9],
  ['/lookup_linux_distro', 5],
  ['/lookup_metastore_catalog_type', 3],
  ['/lookup_secret_type', 7],
  ['/lookup_storage_type', 4],
  ['/lookup_encryption_type', 7],
  ['/lookup_git_provider', 4],
  ['/lookup_git_credential_pattern', 4],
  ['/lookup_widget_type', 4],
];

const RECORDS_AND_PAGES = [
  '/lookup_cloud_providers/1',
  '/lookup_machine_type?limit=5&pageNumber=2',
  '/lookup_machine_type?all=true',
  '/lookup_availability_zone',
  '/lookup_cloud_providers/0/machine/types',
  '/lookup_cloud_providers/3/machine/types/1486',
  '/lookup_cloud_providers/0/machine/available/zones?all=true',
  '/lookup_cloud_providers/0/machine/available/zones/75',
  '/lookup_secret_type?secret_supports=hive',
];

/** `fetch` adds `no-cache` to a request with If-None-Match. */
function ifNoneMatch(etag: string): Record<string, string> {
  return { 'if-none-match': etag, 'cache-control': 'max-age=0' };
}

// Real: PostgreSQL, Redis, guards, pipes and filters. Left out: every other domain.
describe('reference data', () => {
  const [api, otherPod] = podsOf([IamModule, IamApiModule, ReferenceDataApiModule, EnvironmentsApiModule]);
  let token: string;

  beforeAll(async () => {
    token = await api.login();
  });

  const get = (path: string, headers: Record<string, string> = {}): Promise<TestAnswer> =>
    api.call('GET', path, { token, headers });

  it.each(LISTS)('returns %s with %d records', async (path, count) => {
    const { status, headers, body } = await get(path);
    expect([status, body.length]).toEqual([200, count]);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect((await api.call('GET', path)).status).toBe(401);
  });

  it.each([
    ['/lookup_credential_type?cloud_provider=aws', ['AWS Access Secret Key Pair']],
    ['/lookup_credential_type?cloud_provider=PROXMOX', ['OnPrem Basic Auth', 'Custom S3 Credentials']],
    ['/lookup_secret_type?secret_supports=unity', ['DATABRICKS UNITY TOKEN']],
    ['/lookup_secret_type?secret_supports=hive', ['HIVE KERBEROS', 'HIVE BASIC']],
  ])('filters %s', async (path, names) => {
    const { body } = await get(path);
    expect(body.map(({ name }: { name: string }) => name)).toEqual(names);
  });

  it.each([
    ['/lookup_spark_job_type_lang?job_type=Jar,Thrift%20SQL', 2],
    ['/lookup_spark_job_type_lang?job_type=JAR&job_type=notebook', 4],
    ['/lookup_cloud_label_pattern?cloud_provider=gcp', 1],
    ['/lookup_git_credential_pattern?git_provider=GitLab', 1],
    ['/lookup_secret_type?secret_supports=storage', 3],
  ])('filters %s to %d', async (path, count) => {
    expect((await get(path)).body).toHaveLength(count);
  });

  it.each([
    '/lookup_credential_type?cloud_provider=IBM',
    '/lookup_secret_type?secret_supports=glue',
    '/lookup_cloud_label_pattern?cloud_provider=aws&cloud_provider=gcp',
    '/lookup_spark_job_type_lang?job_type=Ruby',
    '/lookup_git_credential_pattern?git_provider=svn',
    '/lookup_machine_type?limit=0',
    '/lookup_machine_type?limit=1001',
    '/lookup_machine_type?page=2',
    '/lookup_cloud_providers/1e0',
  ])('answers 400 to %s', async (path) => {
    expect((await get(path)).status).toBe(400);
  });

  it.each<[string, number, boolean]>([
    ['/lookup_machine_type', 500, true],
    ['/lookup_cloud_providers/0/machine/types', 200, true],
    ['/lookup_cloud_providers/1/machine/available/zones', 100, true],
    ['/lookup_availability_zone', 300, false],
  ])('pages %s', async (path, atLeast, hasAll) => {
    const whole = await get(`${path}?${hasAll ? 'all=true' : 'limit=1000'}`);
    const all: unknown[] = whole.body.data;
    expect(all.length).toBeGreaterThan(atLeast);
    expect(whole.body.result_set).toMatchObject({ current_page: 1, total_objects: all.length, total_pages: 1 });
    expect(whole.body.result_set).not.toHaveProperty('next_page');
    const pages: unknown[] = [];
    for (let next: number | undefined = 1; next !== undefined;) {
      const { body } = await get(`${path}?limit=37&pageNumber=${next}`);
      expect(body.result_set).toMatchObject({ current_page: next, total_objects: all.length, limit: 37 });
      pages.push(...body.data);
      next = body.result_set.next_page;
    }
    expect(pages).toEqual(all);
    expect((await get(`${path}?pageNumber=1000`)).body.data).toEqual([]);
    if (!hasAll) expect((await get(`${path}?all=true`)).status).toBe(400);
  });

  it('finds machine types and zones under their own provider only', async () => {
    expect((await get('/lookup_cloud_providers/3/machine/available/zones')).body.data).toEqual([]);
    expect((await get('/lookup_cloud_providers/0/machine/available/zones/75')).body).toMatchObject({
      availability_zone_id: 75,
      name: 'us-central1-a',
      region: 'us-central1',
      cloud_provider: { cloud_provider_id: 0, name: 'GCP' },
    });
    expect((await get('/lookup_cloud_providers/3/machine/types/1486')).body).toMatchObject({ name: 'Onprem-S-4' });
    for (const path of ['/1/machine/available/zones/75', '/0/machine/types/1486', '/9', '/9/machine/types']) {
      expect((await get(`/lookup_cloud_providers${path}`)).status).toBe(404);
    }
  });

  it.each([...LISTS.map(([path]) => path), ...RECORDS_AND_PAGES])(
    'answers 304 to %s while nothing has changed',
    async (path) => {
      const first = await get(path);
      const etag = first.headers.get('etag') ?? '';
      expect([first.status, etag]).toEqual([200, expect.stringMatching(/^(W\/)?"/)]);
      const conditions = ifNoneMatch(etag);
      const again = await get(path, conditions);
      expect([again.status, again.body, again.headers.get('etag')]).toEqual([304, null, etag]);
      // All pods return the same ETag, because a client may reach any of them.
      expect((await otherPod.call('GET', path, { token, headers: conditions })).status).toBe(304);
      expect((await get(path, ifNoneMatch('"another"'))).status).toBe(200);
      expect((await api.call('GET', path, { headers: conditions })).status).toBe(401);
    },
  );

  describe('seeding', () => {
    const { version: current } = readReferenceDataFiles();
    const upgraded = (
      change: (rows: ReferenceDataFiles['rows']) => void,
      version = current + 1,
    ): ReferenceDataFiles => {
      const files = structuredClone(readReferenceDataFiles());
      change(files.rows);
      return { version, hash: JSON.stringify([version, files.rows.linux_distros]), rows: files.rows };
    };
    const distros = async (pod = api) =>
      (await pod.call('GET', '/lookup_linux_distro', { token })).body.map(
        (row: { distro_name: string; distro_version: string }) => `${row.distro_name} ${row.distro_version}`,
      );

    it('does nothing if the data is already applied', async () => {
      await expect(seedReferenceData(api.database)).resolves.toBe(false);
    });

    it('adds, changes and closes rows, and every pod shows it within a second', async () => {
      const files = upgraded((rows) => {
        rows.linux_distros = rows.linux_distros
          .filter((row) => row.linux_distro_id !== 3)
          .map((row) => (row.linux_distro_id === 0 ? { ...row, distro_version: '20.04.6 LTS' } : row));
        rows.linux_distros.push({ linux_distro_id: 5, distro_name: 'DEBIAN', distro_version: '13' });
      });
      const etag = (await get('/lookup_linux_distro')).headers.get('etag') ?? '';
      const before = await api.database.query('SELECT * FROM linux_distros WHERE linux_distro_id = 1');
      await expect(seedReferenceData(api.database, files)).resolves.toBe(true);
      const expected = ['UBUNTU 20.04.6 LTS', 'UBUNTU 22.04 LTS', 'RHEL 8', 'UBUNTU 24.04 LTS', 'DEBIAN 13'];
      await soon(async () => expect([await distros(), await distros(otherPod)]).toEqual([expected, expected]), 1000);
      expect((await get('/lookup_linux_distro', ifNoneMatch(etag))).status).toBe(200);
      const ended = await api.database.query(
        `SELECT 1 FROM linux_distros WHERE linux_distro_id = 3 AND to_date <= now()`,
      );
      expect(ended).toHaveLength(1);
      expect(await api.database.query('SELECT * FROM linux_distros WHERE linux_distro_id = 1')).toEqual(before);
    });

    it('leaves the data of a newer release alone', async () => {
      await expect(seedReferenceData(api.database)).resolves.toBe(false);
      expect(await distros()).toContain('DEBIAN 13');
    });

    it('reopens a closed row', async () => {
      await expect(
        seedReferenceData(
          api.database,
          upgraded(() => undefined, current + 2),
        ),
      ).resolves.toBe(true);
      await soon(async () => {
        expect(await distros()).toEqual(expect.arrayContaining(['RHEL 9', 'UBUNTU 20.04 LTS']));
        expect(await distros()).not.toContain('DEBIAN 13');
      });
    });
  });
});
