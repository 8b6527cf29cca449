import { ENCRYPTION, expectRefusal, MountsBench, STORAGE } from './harness/mounts';

// Real: the whole API and PostgreSQL. Left out: the stores, which no operation on mounts calls.
describe('mounts', () => {
  let bench: MountsBench;

  beforeAll(async () => {
    bench = await MountsBench.start();
  });

  afterAll(() => bench?.stop());

  it('are created, read, changed and deleted', async () => {
    const credentialsId = await bench.credentials('s3');
    const given = {
      name: 'Sales of 2026',
      storage_type_id: STORAGE.s3,
      encryption_type_id: ENCRYPTION.sseKms,
      source: 's3://sales/2026/',
      mount_point: '/mnt/sales',
      extra_configs: { 'fs.s3a.encryption.key': 'arn:aws:kms:eu-central-1:1:key/2', 'fs.s3a.threads.max': 20 },
      credentials_config_id: credentialsId,
    };
    const created = await bench.call('POST', '/cluster/mount', given);
    expect([created.status, created.body]).toEqual([
      200,
      expect.objectContaining({
        ...given,
        mount_id: expect.stringMatching(/^\d+$/),
        storage_type_id: '1',
        encryption_type_id: '1',
        is_read_only: false,
        credentials_config_id: String(credentialsId),
        tenant_id: bench.mine.tenantId,
        to_date: null,
      }),
    ]);
    const id = Number(created.body.mount_id);
    const read = await bench.call('GET', '/cluster/mount?mount_name=Sales%20of%202026');
    expect([read.status, read.body]).toEqual([
      200,
      expect.objectContaining({
        ...given,
        mount_id: id,
        storage_type: { storage_type_id: STORAGE.s3, name: 'Amazon S3' },
        is_read_only: false,
        credentials_config: expect.objectContaining({
          credential_conf_id: credentialsId,
          credential_type: { credential_type_id: 1, name: 'AWS Access Secret Key Pair' },
        }),
        created_by: expect.objectContaining({ username: 'admin' }),
        to_date: 'infinity',
      }),
    ]);
    const other = await bench.credentials('s3');
    const change = {
      name: 'sales',
      source: 'sales',
      mount_point: '/data/sales',
      extra_configs: null,
      is_read_only: true,
      credentials_config_id: other,
    };
    const changed = await bench.call('PUT', `/cluster/mount?mount_id=${id}`, change);
    expect([changed.status, changed.body]).toEqual([
      201,
      expect.objectContaining({ ...change, credentials_config_id: String(other) }),
    ]);
    // An update keeps the fields that it does not name.
    const renamed = await bench.call('PUT', `/cluster/mount?mount_id=${id}`, { name: 'Sales' });
    expect(renamed.body).toMatchObject({ ...change, name: 'Sales', credentials_config_id: String(other) });
    const deleted = await bench.call('DELETE', `/cluster/mount?mount_id=${id}`);
    expect([deleted.status, deleted.body.message]).toEqual([201, `The mount "Sales" (id ${id}) is deleted.`]);
    expectRefusal(await bench.call('GET', `/cluster/mount?mount_id=${id}`), 404, 'MOUNT.NOT_FOUND');
    const [row] = await bench.api.database.query<{ closed: boolean }[]>(
      `SELECT to_date < 'infinity' AS closed FROM mounts WHERE mount_id = $1`,
      [id],
    );
    expect(row).toEqual({ closed: true });
  });

  it('have a unique name and mount point until they are deleted', async () => {
    const body = await bench.mountBody();
    const { body: first } = await bench.call('POST', '/cluster/mount', body);
    const { name, mount_point, ...rest } = body;
    const next = await bench.mountBody(rest);
    expectRefusal(await bench.call('POST', '/cluster/mount', { ...next, name }), 409, 'RECORD.DUPLICATE_NAME');
    const taken = await bench.call('POST', '/cluster/mount', { ...next, mount_point });
    expectRefusal(taken, 409, 'RECORD.DUPLICATE_MOUNT_POINT', /mount point/);
    await bench.call('DELETE', `/cluster/mount?mount_id=${first.mount_id}`);
    expect((await bench.call('POST', '/cluster/mount', body)).status).toBe(200);
  });

  it('are listed by type, part of the name and cluster', async () => {
    const custom = await bench.makeMount({ name: 'listed CUSTOM' });
    const gcs = await bench.makeMount({
      name: 'listed gcs',
      storage_type_id: STORAGE.gcs,
      source: 'gs://bucket',
      credentials_config_id: await bench.credentials('gcs'),
    });
    const cluster = await bench.makeCluster([custom]);
    const ids = async (query: string) => {
      const { status, body } = await bench.call('GET', `/cluster/mounts?mount_name=LISTED&${query}`);
      expect([status, body.error]).toEqual([200, undefined]);
      expect(body.result_set.total_objects).toBe(body.data.length);
      return body.data.map(({ mount_id }: { mount_id: number }) => mount_id);
    };
    expect(await ids('')).toEqual([gcs, custom]);
    expect(await ids('storage_types=google%20cloud%20storage')).toEqual([gcs]);
    expect(await ids('storage_types=Custom%20S3&storage_types=ADLS%20Gen2')).toEqual([custom]);
    expect(await ids(`exclude_cluster_id=${cluster}`)).toEqual([gcs]);
    expect(await ids(`exclude_cluster_id=${bench.mine.clusterId}`)).toEqual([gcs, custom]);
    const strange = await bench.call('GET', `/cluster/mounts?exclude_cluster_id=${bench.foreign.clusterId}`);
    expectRefusal(strange, 404, 'CLUSTER.NOT_FOUND');
    const all = await bench.call('GET', '/cluster/mounts?limit=1000');
    expect(all.body.data.map(({ name }: { name: string }) => name)).toContain('mine');
    expect(all.body.data.map(({ name }: { name: string }) => name)).not.toContain('foreign');
  });

  it.each<[string, () => Promise<Record<string, unknown>>, string, RegExp]>([
    ['an unknown storage type', async () => ({ storage_type_id: 77 }), 'STORAGE_TYPE.NOT_FOUND', /77/],
    ['an unknown encryption', async () => ({ encryption_type_id: 77 }), 'ENCRYPTION_TYPE.NOT_FOUND', /77/],
    [
      "another provider's encryption",
      async () => ({ encryption_type_id: ENCRYPTION.sseS3 }),
      'MOUNT.ENCRYPTION_MISMATCH',
      /SSE-S3 is not available for the storage type Custom S3/,
    ],
    [
      'SSE-C',
      async () => ({
        storage_type_id: STORAGE.s3,
        encryption_type_id: ENCRYPTION.sseC,
        credentials_config_id: await bench.credentials('s3'),
      }),
      'MOUNT.ENCRYPTION_UNSUPPORTED',
      /keep it secret/,
    ],
    [
      'basic auth for Custom S3',
      async () => ({ credentials_config_id: await bench.credentials('basic') }),
      'MOUNT.CREDENTIAL_TYPE',
      /needs credentials of type Custom S3 Credentials/,
    ],
    [
      "another provider's credentials",
      async () => ({ storage_type_id: STORAGE.gcs, source: 'gs://bucket' }),
      'MOUNT.CREDENTIAL_TYPE',
      /GCP needs credentials of type Google Service Account/,
    ],
    ["another store's source", async () => ({ source: 'gs://bucket' }), 'MOUNT.INVALID_SOURCE', /must begin with s3/],
    [
      'a key in the source',
      async () => ({ source: 's3a://k:hunter2@bucket' }),
      'MOUNT.INVALID_SOURCE',
      /must not name a user/,
    ],
    ['a relative mount point', async () => ({ mount_point: 'data' }), 'MOUNT.INVALID_MOUNT_POINT', /absolute/],
    ['a directory of the system', async () => ({ mount_point: '/etc/x' }), 'MOUNT.INVALID_MOUNT_POINT', /\/etc/],
    [
      'a secret in extra_configs',
      async () => ({ extra_configs: { 'fs.s3a.secret.key': 'hunter2' } }),
      'MOUNT.INVALID_EXTRA_CONFIGS',
      /credentials belong/,
    ],
    [
      "another account's credentials",
      async () => ({
        storage_type_id: STORAGE.adls,
        source: 'abfss://files@account2.dfs.core.windows.net/data',
        credentials_config_id: await bench.credentials('adls'),
      }),
      'MOUNT.ACCOUNT_MISMATCH',
      /account2/,
    ],
    ['a control character in its name', async () => ({ name: 'a\u0007b' }), 'REQUEST.INVALID', /control characters/],
    ['a blank before its name', async () => ({ name: ' a' }), 'REQUEST.INVALID', /white space/],
    ['a name of two lines', async () => ({ name: 'a\nb' }), 'REQUEST.INVALID', /name/],
    ['a long name', async () => ({ name: 'x'.repeat(251) }), 'REQUEST.INVALID', /name/],
    ['a long source', async () => ({ source: `b/${'x'.repeat(999)}` }), 'REQUEST.INVALID', /source/],
  ])('are refused with %s', async (_name, more, code, message) => {
    expectRefusal(await bench.post(await more()), 400, code, message);
  });

  it('are refused with missing credentials or those of another tenant', async () => {
    for (const id of [999_999, bench.foreign.credentialsConfId]) {
      expectRefusal(await bench.post({ credentials_config_id: id }), 404, 'CREDENTIALS_CONF.NOT_FOUND');
    }
  });

  it('obey the same rules in updates, and keep their old values when refused', async () => {
    const id = await bench.makeMount({ is_read_only: true });
    const before = (await bench.call('GET', `/cluster/mount?mount_id=${id}`)).body;
    const put = (body: object) => bench.call('PUT', `/cluster/mount?mount_id=${id}`, body);
    expectRefusal(await put({}), 400, 'REQUEST.EMPTY_UPDATE');
    expectRefusal(await put({ source: 'gs://bucket' }), 400, 'MOUNT.INVALID_SOURCE');
    expectRefusal(await put({ mount_point: '/mnt/' }), 400, 'MOUNT.INVALID_MOUNT_POINT');
    expectRefusal(await put({ extra_configs: { 'spark.x': 1 } }), 400, 'MOUNT.INVALID_EXTRA_CONFIGS');
    expectRefusal(await put({ credentials_config_id: await bench.credentials('s3') }), 400, 'MOUNT.CREDENTIAL_TYPE');
    expectRefusal(await put({ storage_type_id: STORAGE.s3 }), 400, 'REQUEST.INVALID');
    expect((await bench.call('GET', `/cluster/mount?mount_id=${id}`)).body).toEqual(before);
  });

  it('keep their credentials from being deleted', async () => {
    const id = await bench.credentials('custom');
    const mount = await bench.makeMount({ name: 'Holder', credentials_config_id: id });
    const path = `/credential_config?credentials_conf_id=${id}`;
    expectRefusal(await bench.call('DELETE', path), 400, 'RECORD.IN_USE', /used by the mounts "Holder"/);
    await bench.call('DELETE', `/cluster/mount?mount_id=${mount}`);
    expect((await bench.call('DELETE', path)).status).toBe(201);
  });
});
