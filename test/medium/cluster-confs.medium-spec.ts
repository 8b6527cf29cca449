import { IamModule } from '../../src/modules/foundation/iam/iam.module';
import { eventually } from '../harness/eventually';
import { EnvironmentsApiModule } from '../../src/modules/infrastructure/environments/environments.api.module';
import type { COMPUTE_TYPES } from '../../src/modules/foundation/reference-data/reference-data';
import { notify } from '../../src/platform/kernel/notifications/pg-listener';
import { type Caller, People } from './harness/people';
import { apiOf } from './harness/test-api';
import { insertPlain } from './harness/records';
import { vacuumWhole } from './harness/vacuum';
import { autocommit } from '../harness/autocommit';

type ComputeType = (typeof COMPUTE_TYPES)[number];

/** A machine type of each family, of the reference data. */
const MACHINES: Record<Exclude<ComputeType, 'custom_compute'>, string> = {
  compute_optimized: 'c5.xlarge',
  memory_optimized: 'r6g.xlarge',
  general_purpose: 'Onprem-S-4',
  gpu_accelerated: 'g2-standard-4',
  storage_optimized: 'VM.DenseIO2.8',
};
const FAMILIES = Object.entries(MACHINES);
/** A machine type that the test removes from its family. */
const CUSTOM = 'VM.Standard2.1';
const CUSTOM_COMPUTE = 5;

// Real: PostgreSQL and the whole domain of cluster configurations.
describe('the compute type of a cluster configuration', () => {
  const api = apiOf([IamModule, EnvironmentsApiModule]);
  const people = new People(api);
  let admin: Caller;
  const machineTypeIds = new Map<string, number>();

  beforeAll(async () => {
    const tenantId = await people.tenant();
    admin = await people.admin(tenantId);
    const machines = await api.database.query<{ id: number; name: string }[]>(
      'SELECT machine_type_id AS id, name FROM machine_types WHERE name = ANY($1)',
      [[...Object.values(MACHINES), CUSTOM]],
    );
    for (const { id, name } of machines) machineTypeIds.set(name, id);
    for (const [family, machine] of FAMILIES) {
      await insertPlain(api.database.manager, 'cluster_confs', {
        ...{ tenant_id: tenantId, name: `old-${family}` },
        machine_type_id: machineTypeIds.get(machine),
      });
    }
  });

  const namesOf = async (query: string): Promise<string[]> => {
    const { status, body } = await admin.call('GET', `/cluster/confs${query}`);
    expect(status).toBe(200);
    return (body.data as { cluster_conf_name: string }[]).map(({ cluster_conf_name: name }) => name);
  };

  it.each(FAMILIES)(
    'is %s with the machine type %s, also for a record of an earlier release',
    async (family, machine) => {
      const name = `new-${family}`;
      const body = { name, machine_type_id: machineTypeIds.get(machine) };
      const made = await admin.call('POST', '/cluster/conf', body);
      const categories = await api.database.query<{ id: number }[]>(
        'SELECT machine_type_category_id AS id FROM machine_type_categories WHERE name = $1',
        [family],
      );
      expect(made).toMatchObject({ status: 200, body: { machine_type_category_id: String(categories[0]?.id) } });
      for (const known of [name, `old-${family}`]) {
        const { body: read } = await admin.call('GET', `/cluster/conf?cluster_conf_name=${known}`);
        expect(read).toMatchObject({ machine_type_category: family, machine_type: { name: machine } });
      }
      expect(await namesOf(`?compute_type=${family}`)).toEqual([name, `old-${family}`]);
      expect(await namesOf(`/search?cluster_conf_name=EW-&compute_type=${family}`)).toEqual([name]);
    },
  );

  it('finds the few configurations of a family by an index among very many', async () => {
    const tenantId = await people.tenant();
    const machines = ['general_purpose', 'storage_optimized'] as const;
    await api.database.query(
      `INSERT INTO cluster_confs (tenant_id, name, machine_type_id)
       SELECT $1, 'conf-' || n, CASE WHEN n % 1000 = 0 THEN $3::int ELSE $2::int END FROM generate_series(1, 20000) n`,
      [tenantId, ...machines.map((family) => machineTypeIds.get(MACHINES[family]))],
    );
    await vacuumWhole(api.database, 'cluster_confs');
    const caller = await people.admin(tenantId);
    const asked = jest.spyOn(api.database.manager, 'query');
    const { body } = await caller.call('GET', '/cluster/confs?compute_type=storage_optimized&limit=5');
    const statements = asked.mock.calls.filter(([sql]) => sql.includes('FROM cluster_confs'));
    asked.mockRestore();
    expect(body.result_set).toMatchObject({ total_objects: 20, next_page: 2 });
    // The page, and the count.
    expect(statements).toHaveLength(2);
    for (const [sql, params] of statements) {
      const [plan] = await api.database.query(`EXPLAIN (FORMAT JSON) ${sql}`, params);
      expect(JSON.stringify(plan)).toContain('"Index Name":"ix_cluster_confs_machine_type"');
    }
  });

  it('narrows a list together with provider and architecture', async () => {
    expect(await namesOf('?compute_type=memory_optimized&cloud_provider=aws')).toContain('old-memory_optimized');
    expect(await namesOf('?architecture_type=aarch64&cloud_provider=AWS')).toContain('old-memory_optimized');
    expect(await namesOf('?architecture_type=aarch64&cloud_provider=GCP')).toEqual([]);
    expect(await namesOf('?compute_type=memory_optimized&architecture_type=x86_64')).toEqual([]);
    expect(await namesOf('?cloud_provider=proxmox')).toContain('old-general_purpose');
    expect(await namesOf('')).toEqual(expect.arrayContaining(FAMILIES.map(([family]) => `old-${family}`)));
  });

  it('follows the machine type, and is custom_compute only if the type has no family', async () => {
    const body = { name: 'moving', machine_type_id: machineTypeIds.get(CUSTOM) };
    const id = Number((await admin.call('POST', '/cluster/conf', body)).body.cluster_conf_id);
    const typeOf = async () =>
      (await admin.call('GET', `/cluster/conf?cluster_conf_id=${id}`)).body.machine_type_category as string;
    expect(await typeOf()).toBe('general_purpose');
    expect(await namesOf('?compute_type=custom_compute')).toEqual([]);
    await api.database.query('UPDATE machine_types SET machine_type_category_id = $2 WHERE name = $1', [
      CUSTOM,
      CUSTOM_COMPUTE,
    ]);
    await notify(autocommit(api.database.manager), 'reference_data');
    await eventually(async () => (await typeOf()) === 'custom_compute', { what: 'the new category' });
    expect(await namesOf('?compute_type=custom_compute')).toEqual(['moving']);
    const gpu = { machine_type_id: machineTypeIds.get(MACHINES.gpu_accelerated) };
    expect((await admin.call('PUT', `/cluster/conf?cluster_conf_id=${id}`, gpu)).status).toBe(201);
    expect(await typeOf()).toBe('gpu_accelerated');
    expect(await namesOf('?compute_type=custom_compute')).toEqual([]);
    expect(await namesOf('?compute_type=gpu_accelerated')).toContain('moving');
  });
});
