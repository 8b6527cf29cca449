import { BillingModule } from '../../src/modules/execution/billing/billing.module';
import { EnvironmentsApiModule } from '../../src/modules/infrastructure/environments/environments.api.module';
import { ClustersApiModule } from '../../src/modules/execution/clusters/clusters.api.module';
import { RunsModule } from '../../src/modules/execution/runs/runs.module';
import { IamModule } from '../../src/modules/foundation/iam/iam.module';
import { changeMeanwhile } from './harness/changing-cluster';
import { AARCH64, DISK, Estate, type Kind, MACHINE, madeId, type Parts, PROVIDER } from './harness/estate';
import { sampleOf } from '../samples';
import { encodedCredentials } from '../samples/sample';
import { People, refusal } from './harness/people';
import { setClusterStatus } from './harness/statuses';
import type { ClusterStatus } from '../../src/modules/execution/clusters/model/cluster-state';
import { apiOf } from './harness/test-api';

const KINDS: Exclude<Kind, 'cluster'>[] = [
  ...(['volume_conf', 'network_conf', 'boot_disk_image', 'credentials_conf'] as const),
  ...(['cloud_env', 'cluster_conf'] as const),
];

describe('configurations', () => {
  const api = apiOf([...[IamModule, EnvironmentsApiModule, ClustersApiModule, RunsModule, BillingModule]]);
  const people = new People(api);
  let estate: Estate;
  let parts: Parts;

  beforeAll(async () => {
    const own = await people.tenant();
    estate = new Estate(people, await people.as(await people.user([['PLATFORM ADMIN', null]]), own));
  });

  beforeEach(async () => {
    parts = await estate.parts();
  });

  const row = async (table: string, id: number): Promise<Record<string, unknown>> => {
    const found = await api.database.query<Record<string, unknown>[]>(
      `SELECT * FROM ${table}s WHERE ${table}_id = $1`,
      [id],
    );
    return found[0] ?? {};
  };

  describe('names', () => {
    it.each(KINDS)('of a %s are free again after its deletion by name', async (kind) => {
      const { name } = estate.body(kind, parts);
      const first = await estate.id(kind, parts, { name });
      expect(refusal(await estate.create(kind, parts, { name }))).toEqual([409, 'RECORD.DUPLICATE_NAME']);
      const gone = await estate.caller.call('DELETE', `${sampleOf(kind).path}?${kind}_name=${String(name)}`);
      expect([gone.status, gone.body.message]).toEqual([201, expect.stringContaining(`(id ${first})`)]);
      expect(await estate.id(kind, parts, { name })).not.toBe(first);
    });

    it.each(KINDS)('of a %s are given to one of concurrent requests', async (kind) => {
      const { name } = estate.body(kind, parts);
      const answers = await Promise.all([1, 2, 3].map(() => estate.create(kind, parts, { name })));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    });

    it.each([
      ['a'.repeat(64), 200],
      ['a'.repeat(65), 400],
      ['', 400],
      ['Ünïcode', 400],
      ['line\n', 400],
    ])('%j gets status %i', async (name, status) => {
      expect((await estate.create('network_conf', parts, { name })).status).toBe(status);
    });
  });

  describe('a deletion and a new reference at the same time', () => {
    it.each<[Kind, Kind]>([
      ['network_conf', 'cloud_env'],
      ['credentials_conf', 'cloud_env'],
      ['boot_disk_image', 'cloud_env'],
      ['volume_conf', 'cluster_conf'],
      ['volume_conf', 'cluster'],
      ['cloud_env', 'cluster'],
      ['cluster_conf', 'cluster'],
    ])('never leave a deleted %s to a new %s', async (target, referring) => {
      for (let round = 0; round < 5; round += 1) {
        const own = await estate.parts();
        // Nothing else refers to the target then.
        if (referring === 'cloud_env') await estate.delete('cloud_env', own.cloud_env);
        const [made, deleted] = await Promise.all([
          estate.create(referring, own),
          estate.delete(target, own[target as keyof Parts]),
        ]);
        const both = made.status === 200 && deleted.status === 201;
        // A volume that only a configuration without a cluster names can be deleted: nothing can be created from it then.
        if (both && referring === 'cluster_conf') {
          const cluster_conf = madeId('cluster_conf', made);
          const useless = await estate.create('cluster', { ...own, cluster_conf });
          expect(refusal(useless)).toEqual([409, 'CLUSTER_CONF.VOLUME_DELETED']);
        } else {
          expect([made.status, deleted.status, both]).toEqual([made.status, deleted.status, false]);
        }
        expect([made.status, deleted.status].every((status) => status < 500)).toBe(true);
      }
    });
  });

  describe('keys of other providers', () => {
    const everything = {
      ...{ network_project_id: 'project', network_name: 'net', network_tags: ['a'], subnet: 'subnet' },
      ...{ bridge: 'vmbr0', model: 'virtio' },
    };
    const zones = { GCP: 0, AWS: 303, Azure: 125, OCI: 400, OnPrem: 0 };

    it.each<[keyof typeof PROVIDER, object]>([
      ['GCP', { bridge: null, model: null, network_project_id: 'project', network_tags: ['a'] }],
      ['AWS', { bridge: null, model: null, network_project_id: 'project', network_tags: ['a'] }],
      ['Azure', { bridge: null, model: null, network_project_id: 'project', network_tags: ['a'] }],
      ['OCI', { bridge: null, model: null, network_project_id: null, network_tags: ['a'], network_name: 'net' }],
      [
        'OnPrem',
        { bridge: 'vmbr0', network_project_id: null, network_tags: [], subnet: null, availability_zone_id: null },
      ],
    ])('are ignored and not stored: a network of %s', async (provider, stored) => {
      const body = { ...everything, cloud_provider_id: PROVIDER[provider], availability_zone_id: zones[provider] };
      const id = await estate.id('network_conf', parts, body);
      expect(await row('network_conf', id)).toMatchObject(stored);
      expect((await estate.update('network_conf', id, everything)).status).toBe(201);
      expect(await row('network_conf', id)).toMatchObject(stored);
    });

    it('are ignored and not stored: an environment', async () => {
      const others = { cloud_project: 'project', availability_zone_id: zones.AWS };
      const id = await estate.id('cloud_env', parts, others);
      await estate.update('cloud_env', id, others);
      expect(await row('cloud_env', id)).toMatchObject({ cloud_project: null, availability_zone_id: null });
    });

    it.each(['', '  ', '\u3000'])('must not be %j if they are required', async (blank) => {
      expect(refusal(await estate.create('network_conf', parts, { bridge: blank }))).toEqual([
        400,
        'NETWORK_CONF.KEYS_REQUIRED',
      ]);
      expect(refusal(await estate.update('network_conf', parts.network_conf, { model: blank }))).toEqual([
        400,
        'NETWORK_CONF.KEYS_REQUIRED',
      ]);
    });
  });

  describe('the credentials of an environment', () => {
    it('are basic auth and nothing else at OnPrem', async () => {
      const s3 = { AWS_ACCESS_KEY_ID: 'k', AWS_SECRET_ACCESS_KEY: 's', S3_ENDPOINT: 'https://s3.example.org' };
      const credentials = { credential_type_id: 5, base64_encoded_credentials: encodedCredentials(s3) };
      const custom = await estate.id('credentials_conf', parts, credentials);
      const refused = [400, 'CLOUD_ENV.CREDENTIAL_TYPE'];
      expect(refusal(await estate.create('cloud_env', { ...parts, credentials_conf: custom }))).toEqual(refused);
      const change = { credential_config_id: custom };
      expect(refusal(await estate.update('cloud_env', parts.cloud_env, change))).toEqual(refused);
    });

    it('keep their type when they are updated', async () => {
      const s3 = { AWS_ACCESS_KEY_ID: 'k', AWS_SECRET_ACCESS_KEY: 's', S3_ENDPOINT: 'https://s3.example.org' };
      const change = { base64_encoded_credentials: encodedCredentials(s3) };
      const refused = await estate.update('credentials_conf', parts.credentials_conf, change);
      expect(refusal(refused)).toEqual([400, 'CREDENTIALS_CONF.KEY_UNKNOWN']);
    });
  });

  describe('labels', () => {
    const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 'v']));

    it('are limited to 25', async () => {
      expect((await estate.create('cloud_env', parts, { labels: many(25) })).status).toBe(200);
      const refused = await estate.create('cloud_env', parts, { labels: many(26) });
      expect(refusal(refused)).toEqual([400, 'LABEL.TOO_MANY']);
    });

    it.each(['tenant_id', 'Tenant_ID', 'VM'])('of the platform cannot be set: %s', async (key) => {
      const refused = await estate.create('cloud_env', parts, { labels: { [key]: 'x' } });
      expect(refusal(refused)).toEqual([400, 'LABEL.RESERVED']);
    });

    it('of the platform may be sent back as they were read', async () => {
      const own = many(25);
      const cloud_env = await estate.id('cloud_env', parts, { labels: own });
      const { labels } = (await estate.get('cloud_env', cloud_env)).body as { labels: object };
      expect(Object.keys(labels)).toHaveLength(28);
      const changed = await estate.update('cloud_env', cloud_env, { labels: { ...labels, k0: 'w' } });
      expect(changed).toMatchObject({ status: 201, body: { labels: { ...labels, k0: 'w' } } });
      const cluster = await estate.id('cluster', parts, { labels: { team: 'a' } });
      await setClusterStatus(api.database.manager, cluster, 'DESTROYED');
      const { labels: ofCluster } = (await estate.get('cluster', cluster)).body as { labels: object };
      expect((await estate.update('cluster', cluster, { labels: ofCluster })).status).toBe(201);
      const others = { ...ofCluster, tenant_id: '00000000-0000-4000-8000-000000000000' };
      expect(refusal(await estate.update('cluster', cluster, { labels: others }))).toEqual([400, 'LABEL.RESERVED']);
    });

    it('may have the names of the methods of objects', async () => {
      const labels = { toString: '1', hasOwnProperty: '2', valueOf: '3', team: '4', constructor: '5', prototype: '6' };
      const cloud_env = await estate.id('cloud_env', parts, { labels });
      expect((await row('cloud_env', cloud_env))['labels']).toMatchObject(labels);
      const cluster = await estate.id('cluster', parts, { labels });
      await setClusterStatus(api.database.manager, cluster, 'DESTROYED');
      expect((await estate.update('cluster', cluster, { min_instances: 1 })).status).toBe(201);
      expect((await row('cluster', cluster))['labels']).toMatchObject(labels);
    });

    it('are refused rather than lost: __proto__', async () => {
      const labels = JSON.parse('{"team":"1","__proto__":"2"}') as object;
      expect(refusal(await estate.create('cloud_env', parts, { labels }))).toEqual([400, 'REQUEST.INVALID']);
    });
  });

  it('a request with very deep nesting is refused', async () => {
    const deep = (levels: number) => JSON.parse('['.repeat(levels) + ']'.repeat(levels)) as unknown;
    const labels = { team: deep(500) };
    expect(refusal(await estate.create('cloud_env', parts, { labels }))).toEqual([400, 'REQUEST.INVALID']);
    expect(refusal(await estate.create('volume_conf', parts, { unknown: deep(500) }))).toEqual([
      400,
      'REQUEST.INVALID',
    ]);
  });

  describe('a name in another system', () => {
    it.each<[Kind, object]>([
      ['network_conf', { bridge: 'vmbr0\nvmbr1' }],
      ['network_conf', { model: 'x'.repeat(1025) }],
      ['network_conf', { cloud_provider_id: PROVIDER.OCI, network_tags: ['a', ' '] }],
      ['boot_disk_image', { boot_disk_image: ' ' }],
      ['boot_disk_image', { boot_disk_image: 'ubuntu\u007f' }],
      ['cloud_env', { onprem_node_names: [''] }],
      ['cloud_env', { onprem_node_names: ['pve1', ' \t'] }],
      ['cloud_env', { endpoint: 'https://hypervisor.example\n' }],
      ['cloud_env', { cloud_project: 'a\rb' }],
    ])('must be a non-empty line: a %s with %j is refused', async (kind, changes) => {
      expect((await estate.create(kind, parts, changes)).status).toBe(400);
      expect((await estate.update(kind, parts[kind as keyof Parts], changes)).status).toBe(400);
    });

    it('may be empty if the provider does not use it', async () => {
      expect((await estate.create('network_conf', parts, { network_name: '', subnet: '' })).status).toBe(200);
      expect((await estate.create('cloud_env', parts, { cloud_project: '', onprem_node_names: [] })).status).toBe(200);
    });

    it('must be text that can be stored', async () => {
      const halves = { description: '\ud800' };
      expect(refusal(await estate.create('network_conf', parts, halves))).toEqual([400, 'REQUEST.INVALID_TEXT']);
      const inJson = { spark_config: { conf: ['spark.a \udfff'] } };
      expect(refusal(await estate.create('cluster', parts, inJson))).toEqual([400, 'REQUEST.INVALID_TEXT']);
    });
  });

  describe('disks', () => {
    const volume = (disk: keyof typeof DISK, changes: object = {}) =>
      estate.create('volume_conf', {}, { disk_type_id: DISK[disk], ...changes });

    it.each<[keyof typeof DISK, object, number]>([
      ['gp3', { disk_iops: 2999 }, 400],
      ['gp3', { disk_iops: 3000 }, 200],
      ['gp3', { disk_iops: 16000 }, 200],
      ['gp3', { disk_iops: 16001 }, 400],
      ['gp3', { disk_throughput_MB: 124 }, 400],
      ['gp3', { disk_throughput_MB: 1000 }, 200],
      ['gp3', { size: 0 }, 400],
      ['gp3', { size: 16384 }, 200],
      ['gp3', { size: 16385 }, 400],
      ['gp3', { size: undefined }, 400],
      ['local-ssd', { size: undefined }, 200],
      ['local-ssd', { size: 374 }, 400],
      ['io1', { disk_iops: 64000 }, 200],
      ['io1', { disk_throughput_MB: 125 }, 400],
      ['gp2', { disk_iops: 3000 }, 400],
      ['gp2', { disk_throughput_MB: 125 }, 400],
      ['gp2', { disk_iops: null, disk_throughput_MB: null }, 200],
      ['local-lvm', { disk_iops: 100 }, 400],
    ])('%s with %j gets status %i', async (disk, changes, status) => {
      expect((await volume(disk, changes)).status).toBe(status);
    });

    it('of another type lose the speeds that the type does not accept, and keep the others', async () => {
      const id = madeId('volume_conf', await volume('gp3', { disk_iops: 4000, disk_throughput_MB: 200 }));
      const toIo1 = await estate.update('volume_conf', id, { disk_type_id: DISK.io1 });
      expect(toIo1).toMatchObject({ status: 201, body: { disk_iops: 4000, disk_throughput_MB: null } });
      const toGp2 = await estate.update('volume_conf', id, { disk_type_id: DISK.gp2 });
      expect(toGp2).toMatchObject({ status: 201, body: { disk_iops: null, disk_throughput_MB: null } });
    });

    it('keep their provider', async () => {
      const refused = await estate.update('volume_conf', parts.volume_conf, { disk_type_id: DISK.gp3 });
      expect(refusal(refused)).toEqual([400, 'VOLUME_CONF.PROVIDER_MISMATCH']);
      const foreign = madeId('volume_conf', await volume('gp3'));
      const mixed = await estate.create('cluster_conf', { volume_conf: foreign });
      expect(refusal(mixed)).toEqual([400, 'CLUSTER_CONF.PROVIDER_MISMATCH']);
    });

    it('of a cluster stay within the bounds of their type', async () => {
      const refused = await estate.create('cluster', parts, { disk_iops: 100 });
      expect(refusal(refused)).toEqual([400, 'CLUSTER.DISK_OUT_OF_BOUNDS']);
    });
  });

  describe('a record used by a cluster', () => {
    const disable = (cluster_id: number) => estate.caller.call('PUT', '/cluster/disable', { cluster_id });
    const enable = (cluster_id: number) => estate.caller.call('PUT', '/cluster/enable', { cluster_id });

    async function clusterIn(status: ClusterStatus): Promise<number> {
      const id = await estate.id('cluster', parts);
      await setClusterStatus(api.database.manager, id, status);
      return id;
    }

    /** A disabled cluster, which no longer keeps its parts in use. */
    async function disabledCluster(): Promise<number> {
      const id = await clusterIn('DESTROYED');
      expect((await disable(id)).status).toBe(201);
      return id;
    }

    it.each<Kind>(['volume_conf', 'cloud_env'])(
      'a %s neither changes nor goes, and the cluster is named',
      async (kind) => {
        const cluster = await clusterIn('STOPPED');
        const { name } = await row('cluster', cluster);
        const id = parts[kind as keyof Parts];
        for (const refused of [await estate.update(kind, id, { description: 'd' }), await estate.delete(kind, id)]) {
          expect(refused.body.error_code).toBe('RECORD.IN_USE');
          expect(refused.body.error_message).toContain(`"${String(name)}" (STOPPED)`);
        }
        await setClusterStatus(api.database.manager, cluster, 'ERROR');
        expect((await estate.update(kind, id, { description: 'd' })).status).toBe(201);
        expect((await estate.delete(kind, id)).status).toBe(201);
      },
    );

    it.each<['network_conf' | 'boot_disk_image', object]>([
      ['network_conf', { bridge: 'vmbr1' }],
      ['boot_disk_image', { boot_disk_image: 'debian' }],
      ['boot_disk_image', { linux_distro_id: 2 }],
    ])('of kind %s keeps %j, which nodes use, but may change its description', async (kind, change) => {
      const cluster = await clusterIn('RUNNING');
      const { name } = await row('cluster', cluster);
      const refused = await estate.update(kind, parts[kind], change);
      expect(refusal(refused)).toEqual([409, 'RECORD.IN_USE']);
      expect(refused.body.error_message).toContain(`"${String(name)}" (RUNNING)`);
      expect((await estate.update(kind, parts[kind], { description: 'd', subnet: undefined })).status).toBe(201);
      await setClusterStatus(api.database.manager, cluster, 'DESTROYED');
      expect((await estate.update(kind, parts[kind], change)).status).toBe(201);
    });

    it.each<[Exclude<keyof Parts, 'credentials_conf'>, string, object | null]>([
      ['volume_conf', 'id', { size: 200 }],
      ['volume_conf', 'name', { size: 200 }],
      ['network_conf', 'id', { bridge: 'vmbr1' }],
      ['boot_disk_image', 'id', { boot_disk_image: 'debian' }],
      ['cloud_env', 'id', { labels: {} }],
      ['cloud_env', 'name', null],
      ['cluster_conf', 'id', { volume_conf_id: null }],
      ['cluster_conf', 'name', null],
    ])(
      'a %s by %s waits for a cluster that changes, and does not keep it from reading it: %j',
      async (kind, by, body) => {
        const cluster = await clusterIn('DESTROYED');
        const { name } = await row(kind, parts[kind]);
        const path = `${sampleOf(kind).path}?${kind}_${by}=${by === 'id' ? parts[kind] : String(name)}`;
        const record = { table: `${kind}s`, key: `${kind}_id`, id: parts[kind] };
        const { status } = await changeMeanwhile(api.database, cluster, record, () =>
          estate.caller.call(body ? 'PUT' : 'DELETE', path, body ?? undefined),
        );
        // A cluster configuration with a cluster keeps it in use.
        expect(status).toBe(kind === 'cluster_conf' && !body ? 400 : 201);
      },
    );

    it('may renew its credentials meanwhile', async () => {
      await clusterIn('RUNNING');
      const renewed = { base64_encoded_credentials: encodedCredentials({ USERNAME: 'root@pam', PASSWORD: 'new' }) };
      expect((await estate.update('credentials_conf', parts.credentials_conf, renewed)).status).toBe(201);
    });

    it('of kind cluster_conf can be deleted once no cluster has it, as the refusal explains', async () => {
      const cluster = await clusterIn('DESTROYED');
      const refused = await estate.delete('cluster_conf', parts.cluster_conf);
      expect(refusal(refused)).toEqual([400, 'RECORD.IN_USE']);
      expect(refused.body.error_message).toMatch(
        /\(DESTROYED\)\. Destroy each of them first, then assign it another one or disable it/,
      );
      expect((await disable(cluster)).status).toBe(201);
      expect((await estate.delete('cluster_conf', parts.cluster_conf)).status).toBe(201);
    });

    it('must exist for a new cluster', async () => {
      expect((await estate.delete('volume_conf', parts.volume_conf)).status).toBe(201);
      expect(refusal(await estate.create('cluster', parts))).toEqual([409, 'CLUSTER_CONF.VOLUME_DELETED']);
      expect((await estate.update('cluster_conf', parts.cluster_conf, { volume_conf_id: null })).status).toBe(201);
      expect((await estate.create('cluster', parts)).status).toBe(200);
    });

    it.each<['cloud_env' | 'cluster_conf' | 'volume_conf', string]>([
      ['cloud_env', 'CLUSTER.REFERENCE_DELETED'],
      ['cluster_conf', 'CLUSTER.REFERENCE_DELETED'],
      ['volume_conf', 'CLUSTER_CONF.VOLUME_DELETED'],
    ])('must exist when a cluster is enabled: %s', async (kind, code) => {
      const cluster = await disabledCluster();
      expect((await estate.delete(kind, parts[kind])).status).toBe(201);
      expect(refusal(await enable(cluster))).toEqual([409, code]);
      const fresh = await estate.parts();
      const change = { cloud_env_id: fresh.cloud_env, cluster_conf_id: fresh.cluster_conf };
      expect((await estate.update('cluster', cluster, change)).status).toBe(201);
      expect((await enable(cluster)).status).toBe(201);
    });

    it('must not have too many labels when a cluster is enabled', async () => {
      const many = (prefix: string, count: number) =>
        Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}${index}`, 'v']));
      await estate.update('cloud_env', parts.cloud_env, { labels: many('shared', 20) });
      const cluster = await estate.id('cluster', parts, { labels: { ...many('shared', 20), ...many('own', 10) } });
      await setClusterStatus(api.database.manager, cluster, 'DESTROYED');
      await disable(cluster);
      await estate.update('cloud_env', parts.cloud_env, { labels: {} });
      expect(refusal(await enable(cluster))).toEqual([400, 'CLUSTER.TOO_MANY_LABELS']);
      expect((await estate.update('cluster', cluster, { labels: many('own', 10) })).status).toBe(201);
      expect((await enable(cluster)).status).toBe(201);
    });

    it('must be compatible with the others when a cluster is enabled', async () => {
      const cluster = await disabledCluster();
      const image = await estate.id('boot_disk_image', {}, { architecture_type_id: AARCH64 });
      await estate.update('cloud_env', parts.cloud_env, { boot_disk_image_id: image });
      expect(refusal(await enable(cluster))).toEqual([400, 'CLUSTER.ARCHITECTURE_MISMATCH']);
      await estate.update('cloud_env', parts.cloud_env, { boot_disk_image_id: parts.boot_disk_image });
      const machine = { machine_type_id: MACHINE['e2-standard-2'], volume_conf_id: null };
      expect((await estate.update('cluster_conf', parts.cluster_conf, machine)).status).toBe(201);
      expect(refusal(await enable(cluster))).toEqual([400, 'CLUSTER.PROVIDER_MISMATCH']);
    });
  });
});
