import type { DataSource, EntityManager } from 'typeorm';
import { JOB } from '../../src/modules/execution/runs/jobs/run-kinds';
import { sourceExports } from '../../src/database/source-exports';
import { insertRow, inTransaction } from '../../src/platform/kernel/persistence/sql';
import { ResourceRepository } from '../../src/platform/http/resources/resource-repository';
import { tableOf } from '../samples';
import { insertPlain, KINDS_OF_TENANCY, makeNode, makeTenancy, type Tenancy } from './harness/records';
import { preparedDatabase } from './harness/test-api';
import { ClusterMount } from '../../src/modules/execution/clusters/model/entities/cluster-mount.entity';
import type { TenantScope } from '../../src/platform/kernel/auth/principal';

describe('tenants', () => {
  const { dataSource } = preparedDatabase();
  let mine: Tenancy;
  let foreign: Tenancy;

  beforeAll(async () => {
    mine = await makeTenancy(dataSource.manager, 'mine');
    foreign = await makeTenancy(dataSource.manager, 'foreign');
  });

  const scopeOf = (tenancy: Tenancy) => ({
    tenantId: tenancy.tenantId,
    userId: tenancy.userId,
    username: 'test',
    workspace: { workspaceId: Number(tenancy.workspaceId), name: 'test', description: null, active: true },
    // Some rows need a job or a notebook.
    kind: JOB,
  });

  describe('a record cannot refer to a record of another tenant', () => {
    it('by any of its foreign keys', async () => {
      const kinds = new Map(KINDS_OF_TENANCY.map((kind) => [tableOf(kind), kind]));
      const references = dataSource.entityMetadatas
        .filter(({ tableName }) => kinds.has(tableName))
        .flatMap(({ foreignKeys, tableName }) =>
          foreignKeys.flatMap(({ columnNames: [tenant, column], referencedEntityMetadata }) => {
            const kind = kinds.get(referencedEntityMetadata.tableName);
            return tenant === 'tenant_id' && column && kind ? [{ table: tableName, column, id: `${kind}_id` }] : [];
          }),
        );
      expect(references.length).toBeGreaterThanOrEqual(12);
      for (const { table, column, id } of references) {
        const change = (value: unknown) =>
          dataSource.query(`UPDATE ${table} SET ${column} = $1 WHERE tenant_id = $2`, [value, mine.tenantId]);
        const refused = change(foreign.ids[id]).then(
          () => `${table}.${column} is changed`,
          ({ code }) => code as string,
        );
        expect(await refused).toBe('23503');
        // The same statement with a record of the own tenant succeeds.
        await change(mine.ids[id]);
      }
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
      const secretOf = (tenancy: Tenancy) => tenancy.ids[`${scope}_secret_id`];
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

  describe('a repository', () => {
    const repositories = ownRepositories();

    it('exists for every kind of record', () => {
      expect(repositories.map(([kind]) => kind).sort()).toEqual([...KINDS_OF_TENANCY].sort());
    });

    it.each(repositories)('of %s finds and changes only records of its own tenant', async (kind, make) => {
      const repository = make(dataSource);
      const scope = scopeOf(mine);
      const [own, other] = [mine, foreign].map(({ ids }) => Number(ids[`${kind}_id`])) as [number, number];
      expect(await repository.find(scope, { id: own })).not.toBeNull();
      expect(await repository.find(scope, { id: other })).toBeNull();
      expect(await repository.find(scope, { name: 'mine' })).not.toBeNull();
      expect(await repository.find(scope, { name: 'foreign' })).toBeNull();
      const { data } = await repository.list(scope, { limit: 100, pageNumber: 1 });
      expect(data).toHaveLength(1);
      const rename = inTransaction(dataSource, (tx) => repository.update(tx, scope, other, { name: 'taken' }));
      await expect(rename).rejects.toMatchObject({ kind: 'not-found' });
      await inTransaction(dataSource, (tx) => repository.close(tx, scope, other));
      expect(await repository.find(scopeOf(foreign), { name: 'foreign' })).not.toBeNull();
    });
  });
});

/** The methods that all repositories have. */
interface AnyRepository extends Pick<ResourceRepository<never, object>, 'find' | 'list' | 'close' | 'idColumn'> {
  update(tx: EntityManager, scope: TenantScope, id: number, values: { name: string }): Promise<object>;
}

type RepositoryClass = new (dataSource?: DataSource) => AnyRepository;

/** The repositories of the kinds that a tenancy has a record of, each with its kind. */
function ownRepositories(): [string, (dataSource: DataSource) => AnyRepository][] {
  const classes = sourceExports(/\.repository\.ts$/).filter(
    (value): value is RepositoryClass => typeof value === 'function' && value.prototype instanceof ResourceRepository,
  );
  return classes
    .filter((one) => !classes.some((other) => other.prototype instanceof one))
    .map((one): [string, RepositoryClass] => [new one().idColumn.replace(/_id$/, ''), one])
    .filter(([kind]) => KINDS_OF_TENANCY.includes(kind))
    .map(([kind, one]) => [kind, (dataSource) => new one(dataSource)]);
}
