import { changeMeanwhile } from './harness/changing-cluster';
import { encodedCredentials } from '../samples/sample';
import { CREDENTIAL_VALUES, ENCRYPTION, expectRefusal, MountsBench, STORAGE } from './harness/mounts';
import { TestAgent } from './harness/test-agent';

// Real: the whole API and PostgreSQL. Left out: the stores, which no operation on mounts calls, and the agents.
describe('mounts on clusters', () => {
  let bench: MountsBench;

  beforeAll(async () => {
    bench = await MountsBench.start();
  });

  afterAll(() => bench?.stop());

  const attachedTo = async (clusterId: number): Promise<number[]> => {
    const { body } = await bench.call('GET', `/cluster/mount/map?cluster_id=${clusterId}`);
    return body.cluster_mounts.map(({ mount }: { mount: { mount_id: number } }) => mount.mount_id);
  };

  it('are attached when a cluster is created, and returned with it', async () => {
    const [first, second] = [await bench.makeMount(), await bench.makeMount()];
    const { status, body } = await bench.call('POST', '/cluster', bench.clusterBody([second, String(first)]));
    expect([status, body.mount_ids]).toEqual([200, [String(first), String(second)]]);
    const read = await bench.call('GET', `/cluster?cluster_id=${body.cluster_id}`);
    const { body: mount } = await bench.call('GET', `/cluster/mount?mount_id=${first}`);
    expect(read.body.mounts).toEqual([mount, expect.objectContaining({ mount_id: second })]);
    const list = await bench.call('GET', `/clusters/search?cluster_name=${body.name}`);
    expect(list.body.data).toEqual([read.body]);
    const without = await bench.call('POST', '/cluster', bench.clusterBody());
    expect([without.status, without.body.mount_ids]).toEqual([200, []]);
  });

  it('are not attached if one is missing or another tenant’s, and the cluster is not created', async () => {
    const mount = await bench.makeMount();
    for (const strange of [999_999, bench.foreign.mountId]) {
      const body = bench.clusterBody([mount, strange]);
      expectRefusal(await bench.call('POST', '/cluster', body), 404, 'MOUNT.NOT_FOUND', new RegExp(String(strange)));
      expect((await bench.call('GET', `/cluster?cluster_name=${body.name}`)).status).toBe(404);
    }
    for (const ids of [[mount, mount], 'x', [-1], null]) {
      expectRefusal(await bench.call('POST', '/cluster', bench.clusterBody(ids)), 400, 'REQUEST.INVALID');
    }
  });

  it('change only while the cluster is DESTROYED or ERROR', async () => {
    const [first, second] = [await bench.makeMount(), await bench.makeMount()];
    const cluster = await bench.makeCluster([first]);
    const put = (body: object) => bench.call('PUT', `/cluster?cluster_id=${cluster}`, body);
    for (const status of ['STOPPED', 'RUNNING'] as const) {
      await bench.setStatus(cluster, status);
      expectRefusal(await put({ mount_ids: [second] }), 409, 'CLUSTER.INVALID_STATE', /mount_ids/);
    }
    for (const [status, ids] of [
      ['DESTROYED', [first, second]],
      ['ERROR', [second]],
    ] as const) {
      await bench.setStatus(cluster, status);
      const { status: answered, body } = await put({ mount_ids: ids });
      expect([answered, body.mount_ids]).toEqual([201, ids.map(String)]);
    }
    expectRefusal(await put({ mount_ids: [999_999], name: 'other' }), 404, 'MOUNT.NOT_FOUND');
    expect((await put({ description: 'x' })).body.mount_ids).toEqual([String(second)]);
    expect((await put({ mount_ids: [] })).body.mount_ids).toEqual([]);
  });

  it('wait for a concurrent change of the cluster, and do not block its reads', async () => {
    const id = await bench.makeMount();
    const cluster = await bench.makeCluster([id], 'DESTROYED');
    const record = { table: 'mounts', key: 'mount_id', id };
    const path = `/cluster/mount?mount_id=${id}`;
    const change = () => bench.call('PUT', path, { is_read_only: true });
    expect((await changeMeanwhile(bench.api.database, cluster, record, change)).status).toBe(201);
  });

  it('must be compatible with each other', async () => {
    const [one, other] = [await bench.credentials('custom'), await bench.credentials('custom')];
    const outer = await bench.makeMount({ name: 'Outer', mount_point: '/mnt/nest', credentials_config_id: one });
    const inner = await bench.makeMount({ name: 'Inner', mount_point: '/mnt/nest/in', credentials_config_id: one });
    const bucket = await bench.makeMount({ source: 'shared/a', credentials_config_id: one });
    const sameBucket = await bench.makeMount({ source: 'shared/b', credentials_config_id: one });
    const otherKeys = await bench.makeMount({ source: 'shared/c', credentials_config_id: other });
    const azure = async (source: string) =>
      bench.makeMount({
        storage_type_id: STORAGE.adls,
        source,
        credentials_config_id: await bench.credentials('adls'),
      });
    const named = await azure('abfss://files@account1.dfs.core.windows.net/a');
    const unnamed = await azure('files/b');
    const refused = async (ids: number[], reason: RegExp) =>
      expectRefusal(await bench.call('POST', '/cluster', bench.clusterBody(ids)), 400, 'MOUNT.CONFLICT', reason);
    await refused([bucket, outer, otherKeys], /the bucket shared, with different credentials/);
    await refused(
      [named, unnamed],
      /the storage account account1\.dfs\.core\.windows\.net, with different credentials/,
    );
    const tuned = await bench.makeMount({
      source: 'shared/d',
      credentials_config_id: one,
      extra_configs: { 'fs.s3a.threads.max': 20 },
    });
    // No job could start on such a cluster.
    await refused(
      [bucket, tuned],
      /they differ in fs\.s3a\.bucket\.shared\.threads\.max, and Hadoop has only one value/,
    );
    // A path belongs to the mount with the longest matching mount point.
    await bench.makeCluster([outer, inner], 'ERROR');
    const cluster = await bench.makeCluster([outer, bucket, sameBucket, named], 'ERROR');
    const { status, body } = await bench.call('PUT', `/cluster?cluster_id=${cluster}`, {
      mount_ids: [bucket, otherKeys],
    });
    expect([status, body.error_code]).toEqual([400, 'MOUNT.CONFLICT']);
    expect(await attachedTo(cluster)).toEqual([named, sameBucket, bucket, outer]);
    // They must stay compatible when one of them changes.
    const change = (id: number) => bench.call('PUT', `/cluster/mount?mount_id=${id}`, { credentials_config_id: other });
    expectRefusal(await change(bucket), 400, 'MOUNT.CONFLICT', /the bucket shared, with different credentials/);
    expect((await change(outer)).status).toBe(201);
  });

  it('cannot be changed or deleted while a cluster may use them', async () => {
    const mount = await bench.makeMount();
    const [using, broken] = [await bench.makeCluster([mount]), await bench.makeCluster([mount], 'ERROR')];
    const [{ name }] = await bench.api.database.query<[{ name: string }]>(
      'SELECT name FROM clusters WHERE cluster_id = $1',
      [using],
    );
    const path = `/cluster/mount?mount_id=${mount}`;
    for (const status of ['STOPPED', 'RUNNING', 'DESTROYING'] as const) {
      await bench.setStatus(using, status);
      const message = new RegExp(`used by the clusters "${name}" \\(${status}\\)\\. `);
      expectRefusal(await bench.call('PUT', path, { is_read_only: true }), 409, 'RECORD.IN_USE', message);
      expectRefusal(await bench.call('DELETE', path), 400, 'RECORD.IN_USE', message);
    }
    await bench.setStatus(using, 'DESTROYED');
    expect((await bench.call('PUT', path, { is_read_only: true })).body.is_read_only).toBe(true);
    expect((await bench.call('DELETE', path)).status).toBe(201);
    // Clusters keep the reference to a deleted mount and show that it is deleted.
    for (const cluster of [using, broken]) {
      const closed = expect.objectContaining({ mount_id: mount, to_date: expect.stringMatching(/^\d{4}-/) });
      const read = await bench.call('GET', `/cluster?cluster_id=${cluster}`);
      const map = await bench.call('GET', `/cluster/mount/map?cluster_id=${cluster}&storage_types=Custom%20S3`);
      expect([read.body.mounts, map.body.cluster_mounts]).toEqual([
        [closed],
        [expect.objectContaining({ mount: closed })],
      ]);
      const { body } = await bench.call('PUT', `/cluster?cluster_id=${cluster}`, { description: 'x' });
      expect(body.mount_ids).toEqual([String(mount)]);
    }
  });

  it('that were deleted prevent enabling the cluster until they are replaced', async () => {
    const [kept, deleted] = [await bench.makeMount(), await bench.makeMount({ name: 'Archive' })];
    const cluster = await bench.makeCluster([kept, deleted], 'DESTROYED');
    const cosi = { cluster_id: cluster };
    expect((await bench.call('DELETE', `/cluster/mount?mount_id=${deleted}`)).status).toBe(201);
    expect((await bench.call('PUT', '/cluster/disable', cosi)).status).toBe(201);
    const missing = new RegExp(
      `The mount "Archive" \\(id ${deleted}\\) no longer exists\\. It was deleted\\. Assign another`,
    );
    expectRefusal(await bench.call('PUT', '/cluster/enable', cosi), 409, 'CLUSTER.REFERENCE_DELETED', missing);
    const read = await bench.call('GET', `/cluster?cluster_id=${cluster}`);
    expect([read.body.cluster_status, read.body.to_date]).toEqual(['DESTROYED', expect.not.stringMatching('infinity')]);
    const put = (ids: number[]) => bench.call('PUT', `/cluster?cluster_id=${cluster}`, { mount_ids: ids });
    expectRefusal(await put([kept, deleted]), 404, 'MOUNT.NOT_FOUND', /"Archive"/);
    expect((await put([kept])).body.mount_ids).toEqual([String(kept)]);
    const { status, body } = await bench.call('PUT', '/cluster/enable', cosi);
    expect([status, body.mount_ids]).toEqual([201, [String(kept)]]);
    // The enabled cluster uses its mounts again.
    expectRefusal(await bench.call('DELETE', `/cluster/mount?mount_id=${kept}`), 400, 'RECORD.IN_USE', /STOPPED/);
  });

  it('are listed with their clusters, in both directions', async () => {
    const [first, second] = [await bench.makeMount(), await bench.makeMount()];
    const gcs = await bench.makeMount({
      storage_type_id: STORAGE.gcs,
      source: 'gs://bucket',
      credentials_config_id: await bench.credentials('gcs'),
    });
    const one = await bench.makeCluster([first, gcs], 'RUNNING');
    const two = await bench.makeCluster([first]);
    const map = async (query: string) => {
      const { status, body } = await bench.call('GET', `/cluster/mount/map?${query}`);
      expect([status, body.error]).toEqual([200, undefined]);
      return body;
    };
    const ofOne = await map(`cluster_id=${one}`);
    const { body: mount } = await bench.call('GET', `/cluster/mount?mount_id=${gcs}`);
    const cluster = { cluster_id: one, name: expect.any(String), cluster_status: 'RUNNING' };
    expect(ofOne).toEqual({
      cluster_mounts: [
        { cluster, mount },
        { cluster, mount: expect.objectContaining({ mount_id: first }) },
      ],
      result_set: { current_page: 1, total_objects: 2, total_pages: 1, limit: 100 },
    });
    const pairs = async (query: string) =>
      (await map(query)).cluster_mounts.map(
        (pair: { cluster: { cluster_id: number }; mount: { mount_id: number } }) => [
          pair.cluster.cluster_id,
          pair.mount.mount_id,
        ],
      );
    expect(await pairs(`mount_id=${first}`)).toEqual([
      [two, first],
      [one, first],
    ]);
    expect(await pairs(`mount_id=${first}&limit=1&pageNumber=2`)).toEqual([[one, first]]);
    expect(await pairs(`cluster_id=${one}&storage_types=Google%20Cloud%20Storage`)).toEqual([[one, gcs]]);
    expect(await pairs(`cluster_id=${two}&mount_id=${first}`)).toEqual([[two, first]]);
    expect(await pairs(`cluster_id=${two}&mount_id=${gcs}`)).toEqual([]);
    expect(await pairs(`mount_id=${second}`)).toEqual([]);
    expectRefusal(await bench.call('GET', '/cluster/mount/map'), 400, 'REQUEST.SELECTOR_MISSING');
    const strange: [string, string][] = [
      [`cluster_id=${bench.foreign.clusterId}`, 'CLUSTER.NOT_FOUND'],
      [`mount_id=${bench.foreign.mountId}`, 'MOUNT.NOT_FOUND'],
      [`cluster_id=${one}&mount_id=999999`, 'MOUNT.NOT_FOUND'],
    ];
    for (const [query, code] of strange) {
      expectRefusal(await bench.call('GET', `/cluster/mount/map?${query}`), 404, code);
    }
  });

  it('reach the node with decrypted credentials while it has a run', async () => {
    const s3 = await bench.credentials('s3');
    const azure = await bench.credentials('adls');
    const ids = [
      await bench.makeMount({
        storage_type_id: STORAGE.s3,
        encryption_type_id: ENCRYPTION.sseS3,
        source: 's3://lake/raw/',
        mount_point: '/mnt/z',
        extra_configs: { 'fs.s3a.threads.max': 20 },
        is_read_only: true,
        credentials_config_id: s3,
      }),
      await bench.makeMount({
        storage_type_id: STORAGE.adls,
        source: 'abfss://files@account1.dfs.core.windows.net',
        mount_point: '/mnt/y',
        credentials_config_id: azure,
      }),
    ];
    const clusterId = await bench.makeCluster(ids, 'RUNNING');
    const tenancy = { ...bench.mine, clusterId };
    const agent = await TestAgent.ofNewNode(bench.api, tenancy);
    expect((await agent.poll()).runs).toEqual([]);
    const runId = await agent.assignRun(tenancy);
    const moved = { ...CREDENTIAL_VALUES['adls'], STORAGE_ACCOUNT_NAME: 'account2' };
    const { status } = await bench.call('PUT', `/credential_config?credentials_conf_id=${azure}`, {
      base64_encoded_credentials: encodedCredentials(moved),
    });
    expect(status).toBe(201);
    const { runs } = await agent.poll();
    expect(runs.map(({ run_id, spec }) => [run_id, spec.mounts])).toEqual([
      [
        String(runId),
        [
          {
            mount_point: '/mnt/y',
            provider: 'azure',
            bucket: 'files',
            path: '',
            read_only: false,
            encryption: null,
            extra_configs: {},
            // The account of the source, even if the credentials now belong to another account.
            credentials: CREDENTIAL_VALUES['adls'],
          },
          {
            mount_point: '/mnt/z',
            provider: 'aws',
            bucket: 'lake',
            path: 'raw',
            read_only: true,
            encryption: 'SSE-S3',
            extra_configs: { 'fs.s3a.threads.max': '20' },
            credentials: CREDENTIAL_VALUES['s3'],
          },
        ],
      ],
    ]);
    await bench.api.database.query(`UPDATE runs SET ended_at = now(), status = 'DONE' WHERE run_id = $1`, [runId]);
    expect((await agent.poll()).runs).toEqual([]);
  });

  it('with unreadable credentials reach the node with the reason, and affect neither stops nor other mounts', async () => {
    const [sound, damaged] = [await bench.credentials('custom'), await bench.credentials('custom')];
    const ids = [
      await bench.makeMount({ mount_point: '/mnt/sound', credentials_config_id: sound }),
      await bench.makeMount({ name: 'Ledger', mount_point: '/mnt/damaged', credentials_config_id: damaged }),
      await bench.makeMount({ name: 'Gone', mount_point: '/mnt/gone', credentials_config_id: sound }),
    ];
    const clusterId = await bench.makeCluster(ids, 'RUNNING');
    const tenancy = { ...bench.mine, clusterId };
    const agent = await TestAgent.ofNewNode(bench.api, tenancy);
    const [runId, stopId] = [await agent.assignRun(tenancy), await agent.assignRun(tenancy)];
    await bench.api.database.query('UPDATE runs SET stop_requested = true WHERE run_id = $1', [stopId]);
    await damage(damaged);
    // No request can do this. A run without its mount would write to the node's own disk.
    await bench.api.database.query('UPDATE mounts SET to_date = now() WHERE mount_id = $1', [ids[2]]);
    const { runs } = await agent.poll();
    expect(runs.map(({ run_id, action }) => [run_id, action])).toEqual([
      [String(runId), 'run'],
      [String(stopId), 'stop'],
    ]);
    const [first, second, third] = runs[0]?.spec.mounts ?? [];
    expect(first).toMatchObject({
      mount_point: '/mnt/damaged',
      credentials: {},
      fault: expect.stringMatching(
        /^The mount "Ledger" \(\/mnt\/damaged\) cannot be used: The values of the credentials configuration "credentials-\d+" \(id \d+\) cannot be decrypted\./,
      ),
    });
    expect(second).toMatchObject({
      credentials: {},
      fault: 'The mount "Gone" (/mnt/gone) cannot be used: It was deleted. Detach it from the cluster.',
    });
    expect(third).toMatchObject({ mount_point: '/mnt/sound', credentials: CREDENTIAL_VALUES['custom'] });
    expect(third).not.toHaveProperty('fault');
    // After the values are set again, the next run can use the mount.
    const values = { ...CREDENTIAL_VALUES['custom'], AWS_SECRET_ACCESS_KEY: 'rotated' };
    await bench.call('PUT', `/credential_config?credentials_conf_id=${damaged}`, {
      base64_encoded_credentials: encodedCredentials(values),
    });
    const [mended] = (await agent.poll()).runs[0]?.spec.mounts ?? [];
    expect([mended?.credentials, mended?.fault]).toEqual([values, undefined]);
  });

  /** Damages the sealed values as a disk fault might. */
  async function damage(credentialsId: number): Promise<void> {
    await bench.api.database.query(
      `UPDATE credentials_confs SET sealed = set_byte(sealed, length(sealed) - 1, get_byte(sealed, length(sealed) - 1) # 1)
       WHERE credentials_conf_id = $1`,
      [credentialsId],
    );
  }
});
