import type { DataSource, EntityManager } from 'typeorm';
import { createDataSource } from '../../src/database/data-source';
import { BootDiskImagesRepository } from '../../src/modules/infrastructure/environments/boot-disk-images/boot-disk-images.repository';
import { CloudEnvsRepository } from '../../src/modules/infrastructure/environments/cloud-environments/cloud-envs.repository';
import { ClusterConfsRepository } from '../../src/modules/infrastructure/environments/cluster-configurations/cluster-confs.repository';
import { ClusterDefinitionsRepository } from '../../src/modules/execution/clusters/definition/cluster-definitions.repository';
import { CredentialsConfsRepository } from '../../src/modules/infrastructure/environments/credentials/credentials-confs.repository';
import { DependencyRepositoriesRepository } from '../../src/modules/infrastructure/storage/dependency-repositories/dependency-repositories.repository';
import { JobConfsRepository } from '../../src/modules/execution/runs/jobs/job-confs.repository';
import { MetastoreCatalogsRepository } from '../../src/modules/infrastructure/metastores/metastore-catalogs.repository';
import { MountsRepository } from '../../src/modules/infrastructure/storage/mounts/mounts.repository';
import { NetworkConfsRepository } from '../../src/modules/infrastructure/environments/networks/network-confs.repository';
import { ObjectStorageManagersRepository } from '../../src/modules/infrastructure/storage/object-storage-managers/object-storage-managers.repository';
import {
  SecretsOfTenantRepository,
  SecretsOfUserRepository,
  SecretsOfWorkspaceRepository,
} from '../../src/modules/execution/user-secrets/scoped-secrets/scoped-secrets.repository';
import { WorkspacesRepository } from '../../src/modules/execution/workspaces/workspaces.repository';
import { insertRow } from '../../src/platform/kernel/persistence/sql';
import type { ResourceRepository } from '../../src/platform/http/resources/resource-repository';
import { insertPlain, makeNode, makeTenancy, type Tenancy } from './harness/records';
import { configure, createTestDatabase, prepare, type TestDatabase } from './harness/test-api';
import { ClusterMount } from '../../src/modules/execution/clusters/model/entities/cluster-mount.entity';
import type { TenantScope } from '../../src/platform/kernel/auth/principal';

describe('tenants', () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let mine: Tenancy;
  let foreign: Tenancy;

  beforeAll(async () => {
    database = await createTestDatabase();
    const config = configure(database.url);
    await prepare(config);
    dataSource = await createDataSource(config.database, 'test').initialize();
    mine = await makeTenancy(dataSource.manager, 'mine');
    foreign = await makeTenancy(dataSource.manager, 'foreign');
  });

  afterAll(async () => {
    await dataSource?.destroy();
    await database?.drop();
  });

  const scopeOf = (tenancy: Tenancy) => ({
    tenantId: tenancy.tenantId,
    userId: tenancy.userId,
    username: 'test',
    workspace: { workspaceId: Number(tenancy.workspaceId), name: 'test', description: null, active: true },
  });

  describe('a record may refer to none of another tenant', () => {
    const references: [string, string, keyof Tenancy][] = [
      ['cloud_envs', 'credentials_conf_id', 'credentialsConfId'],
      ['cloud_envs', 'network_conf_id', 'networkConfId'],
      ['cloud_envs', 'boot_disk_image_id', 'bootDiskImageId'],
      ['object_storage_managers', 'credentials_conf_id', 'credentialsConfId'],
      ['mounts', 'credentials_conf_id', 'credentialsConfId'],
      ['clusters', 'object_storage_manager_id', 'objectStorageManagerId'],
      ['clusters', 'metastore_catalog_id', 'metastoreCatalogId'],
      ['clusters', 'cloud_env_id', 'cloudEnvId'],
      ['clusters', 'cluster_conf_id', 'clusterConfId'],
      ['job_confs', 'workspace_id', 'workspaceId'],
      ['job_confs', 'cluster_id', 'clusterId'],
      ['workspace_secrets', 'workspace_id', 'workspaceId'],
    ];

    it.each(references)('%s.%s', async (table, column, key) => {
      const change = (value: unknown) =>
        dataSource.query(`UPDATE ${table} SET ${column} = $1 WHERE tenant_id = $2`, [value, mine.tenantId]);
      await expect(change(foreign[key])).rejects.toMatchObject({ driverError: { code: '23503' } });
      // The same statement with a record of the tenant itself is no error.
      await change(mine[key]);
    });

    it('cluster_mounts', async () => {
      const attach = ({ tenantId, clusterId, mountId }: Tenancy) =>
        insertRow(dataSource.manager, ClusterMount, {
          tenant_id: tenantId,
          cluster_id: clusterId,
          mount_id: mountId,
        });
      for (const crossing of [{ clusterId: foreign.clusterId }, { mountId: foreign.mountId }]) {
        await expect(attach({ ...mine, ...crossing })).rejects.toMatchObject({ driverError: { code: '23503' } });
      }
      await attach(mine);
    });

    it.each(['tenant', 'workspace', 'user'] as const)('%s_catalog_secrets', async (scope) => {
      const secretOf = (tenancy: Tenancy) => tenancy[`${scope}SecretId`];
      const own = { workspace: { workspace_id: mine.workspaceId }, user: { user_id: mine.userId }, tenant: {} }[scope];
      const attach = (crossing: object) =>
        insertPlain(dataSource.manager, `${scope}_catalog_secrets`, {
          tenant_id: mine.tenantId,
          metastore_catalog_id: mine.metastoreCatalogId,
          metastore_secret_id: secretOf(mine),
          storage_secret_id: secretOf(mine),
          ...own,
          ...crossing,
        });
      for (const crossing of [
        { metastore_catalog_id: foreign.metastoreCatalogId },
        { metastore_secret_id: secretOf(foreign) },
        { storage_secret_id: secretOf(foreign) },
        ...(scope === 'workspace' ? [{ workspace_id: foreign.workspaceId }] : []),
      ]) {
        await expect(attach(crossing)).rejects.toMatchObject({ code: '23503' });
      }
      await attach({});
    });

    it('cluster_nodes.cluster_id', async () => {
      const crossing = { ...mine, clusterId: foreign.clusterId };
      await expect(makeNode(dataSource.manager, crossing, 7)).rejects.toMatchObject({ driverError: { code: '23503' } });
    });

    it('every foreign key between tables of tenants names the tenant', async () => {
      const single = await dataSource.query<{ name: string }[]>(
        `SELECT c.conname AS name FROM pg_constraint c
         WHERE c.contype = 'f' AND cardinality(c.conkey) = 1
           AND EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.conrelid AND a.attname = 'tenant_id')
           AND EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.confrelid AND a.attname = 'tenant_id'
             AND a.attnotnull)
           AND c.confrelid <> 'tenants'::regclass`,
      );
      expect(single).toEqual([]);
    });
  });

  /** What all of them can do, whatever their rows are. */
  interface AnyRepository extends Pick<ResourceRepository<never, object>, 'find' | 'list' | 'close'> {
    update(tx: EntityManager, scope: TenantScope, id: number, values: { name: string }): Promise<object>;
  }

  describe('a repository', () => {
    const repositories: [string, () => AnyRepository, keyof Tenancy][] = [
      ['clusters', () => new ClusterDefinitionsRepository(dataSource), 'clusterId'],
      ['cluster_confs', () => new ClusterConfsRepository(dataSource), 'clusterConfId'],
      ['cloud_envs', () => new CloudEnvsRepository(dataSource), 'cloudEnvId'],
      ['network_confs', () => new NetworkConfsRepository(dataSource), 'networkConfId'],
      ['boot_disk_images', () => new BootDiskImagesRepository(dataSource), 'bootDiskImageId'],
      ['credentials_confs', () => new CredentialsConfsRepository(dataSource), 'credentialsConfId'],
      ['object_storage_managers', () => new ObjectStorageManagersRepository(dataSource), 'objectStorageManagerId'],
      ['mounts', () => new MountsRepository(dataSource), 'mountId'],
      ['workspaces', () => new WorkspacesRepository(dataSource), 'workspaceId'],
      ['job_confs', () => new JobConfsRepository(dataSource), 'jobConfId'],
      ['metastore_catalogs', () => new MetastoreCatalogsRepository(dataSource), 'metastoreCatalogId'],
      ['dependency_repositories', () => new DependencyRepositoriesRepository(dataSource), 'dependencyRepositoryId'],
      ['tenant_secrets', () => new SecretsOfTenantRepository(dataSource), 'tenantSecretId'],
      ['workspace_secrets', () => new SecretsOfWorkspaceRepository(dataSource), 'workspaceSecretId'],
      ['user_secrets', () => new SecretsOfUserRepository(dataSource), 'userSecretId'],
    ];

    it.each(repositories)('of %s finds and changes its own tenant only', async (_table, make, key) => {
      const repository = make();
      const scope = scopeOf(mine);
      const [own, other] = [Number(mine[key]), Number(foreign[key])];
      expect(await repository.find(scope, { id: own })).not.toBeNull();
      expect(await repository.find(scope, { id: other })).toBeNull();
      expect(await repository.find(scope, { name: 'mine' })).not.toBeNull();
      expect(await repository.find(scope, { name: 'foreign' })).toBeNull();
      const { data } = await repository.list(scope, { limit: 100, pageNumber: 1 });
      expect(data).toHaveLength(1);
      const rename = dataSource.transaction((tx) => repository.update(tx, scope, other, { name: 'taken' }));
      await expect(rename).rejects.toMatchObject({ kind: 'not-found' });
      await dataSource.transaction((tx) => repository.close(tx, scope, other));
      expect(await repository.find(scopeOf(foreign), { name: 'foreign' })).not.toBeNull();
    });
  });
});
