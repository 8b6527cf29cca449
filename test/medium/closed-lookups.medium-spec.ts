import { BillingModule } from '../../src/modules/execution/billing/billing.module';
import { EnvironmentsApiModule } from '../../src/modules/infrastructure/environments/environments.api.module';
import { ClustersApiModule } from '../../src/modules/execution/clusters/clusters.api.module';
import { RunsModule } from '../../src/modules/execution/runs/runs.module';
import { IamApiModule } from '../../src/modules/foundation/iam/iam.api.module';
import { IamModule } from '../../src/modules/foundation/iam/iam.module';
import { ReferenceDataModule } from '../../src/modules/foundation/reference-data/reference-data.module';
import { ReferenceData } from '../../src/modules/foundation/reference-data/reference-data';
import { readReferenceDataFiles } from '../../src/modules/foundation/reference-data/reference-data-files';
import { seedReferenceData } from '../../src/modules/foundation/reference-data/seed-reference-data';
import { bodyOf } from '../samples';
import { encodedCredentials } from '../samples/sample';
import { insertPlain, makeTenancy, type Tenancy } from './harness/records';
import { setClusterStatus } from './harness/statuses';
import { soon, apiOf } from './harness/test-api';

/** Rows of GCP that the next release removes, and rows that stay. */
const CLOSED = { provider: 0, zone: 75, machineType: 10, diskType: 0, distro: 1, credentialType: 0, version: 0 };
const STAYING = { provider: 0, zone: 76, machineType: 15, diskType: 1, distro: 2, credentialType: 1, version: 1 };

// Real: PostgreSQL, guards, pipes, filters, the seeding and the domains that refer to lookups. Left out: all other domains.
describe('records that refer to a lookup row closed by an upgrade', () => {
  const api = apiOf([
    IamModule,
    IamApiModule,
    ReferenceDataModule,
    EnvironmentsApiModule,
    ClustersApiModule,
    BillingModule,
    RunsModule,
  ]);
  let token: string;
  let mine: Tenancy;
  let volumeConfId: number;

  beforeAll(async () => {
    await describeInfrastructure();
    token = await api.login();
    expect((await api.call('POST', `/user/select/${mine.tenantId}`, { token })).status).toBe(201);
    await closeRows();
  });

  async function describeInfrastructure(): Promise<void> {
    const tx = api.database.manager;
    mine = await makeTenancy(tx, 'mine');
    const volume = { tenant_id: mine.tenantId, name: 'mine', disk_type_id: CLOSED.diskType, size: 100 };
    volumeConfId = Number((await insertPlain(tx, 'volume_confs', volume))['volume_conf_id']);
    const provider = `cloud_provider_id = ${CLOSED.provider}`;
    for (const sql of [
      `UPDATE credentials_confs SET credential_type_id = ${CLOSED.credentialType}`,
      `UPDATE boot_disk_images SET ${provider}, linux_distro_id = ${CLOSED.distro}`,
      `UPDATE network_confs SET ${provider}, availability_zone_id = ${CLOSED.zone},
         network_project_id = 'p', network_name = 'n', subnet = 's'`,
      `UPDATE cloud_envs SET ${provider}, availability_zone_id = ${CLOSED.zone}, cloud_project = 'p'`,
      `UPDATE cluster_confs SET machine_type_id = ${CLOSED.machineType}, volume_conf_id = ${volumeConfId}`,
      `UPDATE clusters SET spark_infra_version_id = ${CLOSED.version}, disk_type_id = ${CLOSED.diskType},
         min_instances = 1, max_instances = 1, num_of_workers = NULL`,
    ]) {
      await api.database.query(sql);
    }
    await setClusterStatus(tx, mine.clusterId, 'ERROR');
  }

  /** Upgrades to a release without the rows. */
  async function closeRows(): Promise<void> {
    const { rows, version } = structuredClone(readReferenceDataFiles());
    rows.availability_zones = rows.availability_zones.filter((row) => row.availability_zone_id !== CLOSED.zone);
    rows.machine_types = rows.machine_types.filter((row) => row.machine_type_id !== CLOSED.machineType);
    rows.disk_types = rows.disk_types.filter((row) => row.disk_type_id !== CLOSED.diskType);
    rows.linux_distros = rows.linux_distros.filter((row) => row.linux_distro_id !== CLOSED.distro);
    rows.credential_types = rows.credential_types.filter((row) => row.credential_type_id !== CLOSED.credentialType);
    rows.spark_infra_versions = rows.spark_infra_versions.filter(
      (row) => row.spark_infra_version_id !== CLOSED.version,
    );
    await seedReferenceData(api.database, { version: version + 1, hash: 'next', rows });
    const { current } = api.app.get(ReferenceData);
    // The notification is what reloads the rows: without it, the process polls every half minute.
    await soon(async () => {
      expect([
        current.availabilityZone(CLOSED.zone),
        current.machineType(CLOSED.machineType),
        current.diskType(CLOSED.diskType),
        current.linuxDistro(CLOSED.distro),
        current.credentialType(CLOSED.credentialType),
        current.sparkInfraVersion(CLOSED.version),
      ]).toEqual(Array.from({ length: 6 }, () => undefined));
    }, 25_000);
  }

  const zone = { availability_zone_id: CLOSED.zone, name: 'us-central1-a' };
  const machine = { machine_type_id: CLOSED.machineType, name: 'n1-standard-4' };
  const disk = { disk_type_id: CLOSED.diskType, name: 'pd-ssd' };

  it.each<[string, string, object]>([
    ['/machine/boot_disk_image', 'boot_disk_image', { linux_distro: { linux_distro_id: CLOSED.distro } }],
    ['/machine/network', 'network_conf', { availability_zone: zone }],
    ['/credential_config', 'credentials_conf', { credential_type: { credential_type_id: CLOSED.credentialType } }],
    ['/machine/volume', 'volume_conf', { disk_type: disk }],
    [
      '/cluster/cloud/environment',
      'cloud_env',
      {
        availability_zone: zone,
        network_config: { availability_zone: zone },
        boot_disk_image: { boot_disk_image: 'ubuntu' },
      },
    ],
    ['/cluster/conf', 'cluster_conf', { machine_type: machine, machine_volume_conf: { disk_type: disk } }],
    [
      '/cluster',
      'cluster',
      {
        cluster_conf: { machine_type: machine },
        cloud_env: { availability_zone: zone },
        spark_infra_version: { spark_infra_version_id: CLOSED.version },
        machine_volume_config: { disk_type: disk },
      },
    ],
  ])('are read as before: %s', async (path, prefix, expected) => {
    const { status, body } = await api.call('GET', `${path}?${prefix}_name=mine`, { token });
    expect([status, body]).toEqual([200, expect.objectContaining({})]);
    expect(body).toMatchObject(expected);
    const list = path === '/credential_config' ? '/credential_configs' : `${path}s`;
    const page = await api.call('GET', list, { token });
    expect([page.status, page.body.data]).toEqual([200, [body]]);
  });

  it.each<[string, string, object]>([
    ['/machine/boot_disk_image', 'boot_disk_image', { linux_distro_id: CLOSED.distro }],
    ['/machine/network', 'network_conf', { subnet: 'other' }],
    ['/machine/volume', 'volume_conf', { size: 200 }],
    ['/cluster/cloud/environment', 'cloud_env', { availability_zone_id: CLOSED.zone }],
    ['/cluster/conf', 'cluster_conf', { machine_type_id: CLOSED.machineType }],
    ['/cluster', 'cluster', { spark_infra_version_id: CLOSED.version, is_spot_instance: true }],
  ])('keep it through a change: %s %s', async (path, prefix, change) => {
    const body = { description: 'changed', ...change };
    const answer = await api.call('PUT', `${path}?${prefix}_name=mine`, { token, body });
    expect([answer.status, answer.body]).toEqual([201, expect.objectContaining({ description: 'changed' })]);
  });

  describe('cannot get a new reference to one', () => {
    const create = (name: string, rows: typeof CLOSED): Record<string, object> => ({
      '/machine/boot_disk_image': {
        ...{ name, ...bodyOf('boot_disk_image') },
        ...{ cloud_provider_id: rows.provider, linux_distro_id: rows.distro },
      },
      '/machine/network': {
        name,
        cloud_provider_id: rows.provider,
        network_project_id: 'p',
        network_name: 'n',
        subnet: 's',
        availability_zone_id: rows.zone,
      },
      '/machine/volume': { name, ...bodyOf('volume_conf'), disk_type_id: rows.diskType },
      '/credential_config': {
        name,
        credential_type_id: rows.credentialType,
        base64_encoded_credentials: encodedCredentials({
          AWS_ACCESS_KEY_ID: 'a',
          AWS_SECRET_ACCESS_KEY: 'b',
          AWS_DEFAULT_REGION: 'c',
        }),
      },
      '/cluster/conf': { name, machine_type_id: rows.machineType },
      '/cluster/cloud/environment': {
        name,
        cloud_provider_id: rows.provider,
        availability_zone_id: rows.zone,
        network_conf_id: mine.networkConfId,
        credential_config_id: mine.credentialsConfId,
        boot_disk_image_id: mine.bootDiskImageId,
        cloud_project: 'p',
      },
      '/cluster': {
        ...{ name, ...bodyOf('cluster', { cloud_env_id: mine.cloudEnvId, cluster_conf_id: mine.clusterConfId }) },
        spark_infra_version_id: rows.version,
      },
    });

    it.each([
      ['/machine/boot_disk_image', 'LINUX_DISTRO.NOT_FOUND'],
      ['/machine/network', 'AVAILABILITY_ZONE.NOT_FOUND'],
      ['/machine/volume', 'DISK_TYPE.NOT_FOUND'],
      ['/credential_config', 'CREDENTIAL_TYPE.NOT_FOUND'],
      ['/cluster/conf', 'MACHINE_TYPE.NOT_FOUND'],
      ['/cluster/cloud/environment', 'AVAILABILITY_ZONE.NOT_FOUND'],
      ['/cluster', 'SPARK_INFRA_VERSION.NOT_FOUND'],
    ])('a new record: %s', async (path, code) => {
      const refused = await api.call('POST', path, { token, body: create('new', CLOSED)[path] });
      expect([refused.status >= 400 && refused.status < 500, refused.body.error_code]).toEqual([true, code]);
      const made = await api.call('POST', path, { token, body: create('new', STAYING)[path] });
      expect([made.status, made.body.error]).toEqual([200, undefined]);
    });

    it.each<[string, string, object, string]>([
      ['/machine/boot_disk_image', 'boot_disk_image', { linux_distro_id: CLOSED.distro }, 'LINUX_DISTRO.NOT_FOUND'],
      ['/machine/network', 'network_conf', { availability_zone_id: CLOSED.zone }, 'AVAILABILITY_ZONE.NOT_FOUND'],
      ['/machine/volume', 'volume_conf', { disk_type_id: CLOSED.diskType }, 'DISK_TYPE.NOT_FOUND'],
      ['/cluster/conf', 'cluster_conf', { machine_type_id: CLOSED.machineType }, 'MACHINE_TYPE.NOT_FOUND'],
    ])('a record without one: %s', async (path, prefix, body, code) => {
      const answer = await api.call('PUT', `${path}?${prefix}_name=new`, { token, body });
      expect([answer.status, answer.body.error_code]).toEqual([400, code]);
    });
  });
});
