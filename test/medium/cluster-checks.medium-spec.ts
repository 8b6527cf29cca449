import { IamModule } from '../../src/modules/foundation/iam/iam.module';
import { EnvironmentsApiModule } from '../../src/modules/infrastructure/environments/environments.api.module';
import { ClustersApiModule } from '../../src/modules/execution/clusters/clusters.api.module';
import { RunsModule } from '../../src/modules/execution/runs/runs.module';
import { BillingModule } from '../../src/modules/execution/billing/billing.module';
import type { ClusterCheck } from '../../src/modules/execution/clusters/definition/dto/cluster-check.dto';
import { DISK, Estate, MACHINE, type Parts } from './harness/estate';
import { People } from './harness/people';
import { setClusterStatus } from './harness/statuses';
import { apiOf } from './harness/test-api';

// Real: the whole API and PostgreSQL. Left out: the worker, so SQL sets the state of clusters.
describe('the check of a cluster', () => {
  const api = apiOf([IamModule, EnvironmentsApiModule, ClustersApiModule, RunsModule, BillingModule], {
    BILLING_UNIT_PRICES: '2000-01-01:0.25:USD,2001-01-01:0.5:EUR,9000-01-01:7:USD',
  });
  const people = new People(api);
  let estate: Estate;
  let parts: Parts;

  beforeAll(async () => {
    estate = new Estate(people, await people.as(await people.user([['PLATFORM ADMIN', null]]), await people.tenant()));
    parts = await estate.parts();
  });

  async function check(body: object): Promise<ClusterCheck> {
    const answer = await estate.caller.call('POST', '/cluster/check', body);
    expect(answer).toMatchObject({ status: 200 });
    return answer.body as ClusterCheck;
  }
  const body = (changes: object = {}) => estate.body('cluster', parts, changes);
  const fieldsOf = ({ faults }: ClusterCheck) => faults.map(({ field }) => field);
  const count = async () => Number((await api.database.query('SELECT count(*) FROM clusters'))[0].count);

  it('accepts what creating would accept, and stores nothing', async () => {
    const before = await count();
    const wanted = body();
    expect(await check(wanted)).toMatchObject({ is_accepted: true, faults: [], fixed_fields: [], fixed_reason: null });
    expect(await count()).toBe(before);
    expect(await estate.caller.call('POST', '/cluster', wanted)).toMatchObject({ status: 200 });
  });

  it('names everything that is missing', async () => {
    const { is_accepted: isAccepted, faults, cost } = await check({ description: 'only this' });
    expect(isAccepted).toBe(false);
    expect(cost).toBeNull();
    expect(faults.map(({ field }) => field).sort()).toEqual([
      ...['cloud_env_id', 'cluster_conf_id', 'cluster_type', 'enable_public_ip', 'is_spot_instance', 'name'],
      'spark_infra_version_id',
    ]);
    expect(faults.find(({ field }) => field === 'name')?.message).toBe('name is required');
  });

  it('names everything that does not fit, each at its field', async () => {
    const wrong = { is_cuda_enabled: true, min_instances: 3, max_instances: 2, disk_type_id: DISK.gp3 };
    const checked = await check({ ...body(wrong), name: undefined });
    expect(fieldsOf(checked).sort()).toEqual(['disk_type_id', 'is_cuda_enabled', 'max_instances', 'name']);
  });

  it('finds what only the records of the tenant show', async () => {
    const taken = body();
    expect(await estate.caller.call('POST', '/cluster', taken)).toMatchObject({ status: 200 });
    expect(await check(taken)).toMatchObject({ faults: [{ field: 'name', code: 'RECORD.DUPLICATE_NAME' }] });
    const owned = body({ spark_config: { conf: ['spark.master local'] } });
    expect(await check(owned)).toMatchObject({ faults: [{ code: 'CLUSTER.PROPERTY_OWNED' }] });
  });

  it('says what cannot be chosen with the rest, and why', async () => {
    const other = await estate.id(
      'cluster_conf',
      {},
      { machine_type_id: MACHINE['e2-standard-2'], volume_conf_id: null },
    );
    const { misfits } = await check(body());
    expect(misfits).toContainEqual({
      ...{ field: 'cluster_conf_id', value: other },
      reason: 'The cluster configuration and the cloud environment belong to different cloud providers.',
    });
    expect(misfits).not.toContainEqual(expect.objectContaining({ value: parts.cluster_conf }));
    expect(misfits.map(({ field }) => field)).toEqual(expect.arrayContaining(['is_cuda_enabled']));
  });

  it('counts the nodes with the price of today', async () => {
    const { cost } = await check(body({ cluster_type: 'CLUSTER', min_instances: 2, max_instances: 5 }));
    const units = cost?.min_ycu ?? 0;
    expect(cost).toMatchObject({ min_nodes: 3, max_nodes: 6, currency: 'EUR', unit_price: '0.5', max_ycu: units * 2 });
    expect(units).toBeGreaterThan(0);
    expect(cost?.min_amount).toBeCloseTo(units / 2);
    expect(cost?.max_amount).toBeCloseTo(units);
  });

  it('says which fields of a cluster cannot change in its state', async () => {
    const cluster_id = await estate.id('cluster', parts);
    const running = await check({ cluster_id, description: 'x', max_instances: 3 });
    expect(running).toMatchObject({
      is_accepted: false,
      fixed_reason: 'The cluster is STOPPED. These fields can change only in DESTROYED or ERROR.',
      faults: [{ code: 'CLUSTER.INVALID_STATE' }],
    });
    expect(running.fixed_fields).toEqual(expect.arrayContaining(['max_instances', 'cloud_env_id']));
    expect(running.fixed_fields).not.toContain('description');
    expect(await check({ cluster_id, description: 'x' })).toMatchObject({ is_accepted: true });
    expect(await check({ cluster_id })).toMatchObject({ is_accepted: true, cost: { min_nodes: 1 } });
    await setClusterStatus(api.database.manager, cluster_id, 'DESTROYED');
    const free = await check({ cluster_id, max_instances: 3 });
    expect(free).toMatchObject({ is_accepted: true, fixed_fields: [], cost: { max_nodes: 3 } });
    expect(fieldsOf(await check({ cluster_id, min_instances: 9 }))).toEqual(['max_instances']);
    expect((await estate.get('cluster', cluster_id)).body).toMatchObject({ description: null });
  });

  it('does not find a cluster of another tenant', async () => {
    const stranger = await people.as(await people.user([['PLATFORM ADMIN', null]]), await people.tenant());
    const cluster_id = await estate.id('cluster', parts);
    expect(await stranger.call('POST', '/cluster/check', { cluster_id })).toMatchObject({ status: 404 });
    expect(await stranger.call('POST', '/cluster/check', body())).toMatchObject({ status: 404 });
    expect(await estate.caller.call('POST', '/cluster/check', body({ mount_ids: [999_999] }))).toMatchObject({
      status: 404,
    });
    expect(await estate.caller.call('POST', '/cluster/check', {})).toMatchObject({ status: 400 });
  });
});
