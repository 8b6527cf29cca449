import { randomUUID } from 'node:crypto';
import {
  ComputeDriverError,
  type ComputeDriver,
  type DriverContext,
  type SweepResult,
  type SweepScope,
} from '../../libs/compute-drivers/compute-driver';
import { removeOrphans } from '../../libs/compute-drivers/sweep';
import { eventually } from '../harness/eventually';
import { createDataSource } from '../../src/database/data-source';
import { ClusterNodesRepository } from '../../src/modules/execution/clusters/model/cluster-nodes.repository';
import { MachinePlacesRepository } from '../../src/modules/execution/clusters/provisioning/machine-places.repository';
import type { Drivers } from '../../src/modules/execution/clusters/provisioning/drivers';
import { OrphanSweeper } from '../../src/modules/execution/clusters/provisioning/orphan-sweeper';
import type { CredentialsConfsService } from '../../src/modules/infrastructure/environments/credentials/credentials-confs.service';
import { CLOUD_PROVIDER_ID } from '../../src/modules/foundation/reference-data/reference-data';
import { Installation } from '../../src/platform/kernel/installation/installation';
import { createLogger } from '../../src/platform/kernel/logging/logger';
import { setClock } from './harness/clock';
import { makeNode, makeTenancy, type Tenancy } from './harness/records';
import { setNodeStatus } from './harness/statuses';
import { preparedDatabase } from './harness/test-api';
import { autocommit } from '../harness/autocommit';

const DEADLINE_MS = 110_000;
const MINUTE_MS = 60_000;
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * MINUTE_MS);

interface Machine {
  nodeToken: string;
  createdAt: Date;
}

/** Accounts of a provider by region, each with its machines; a test can make one hang or refuse. */
class Provider {
  readonly machines = new Map<string, Machine[]>();
  readonly asked: string[] = [];
  readonly calls: DriverContext[] = [];
  readonly scopes: SweepScope[] = [];
  before: (region: string, context: DriverContext) => Promise<void> = () => Promise.resolve();

  readonly driver = {
    sweep: async (scope: SweepScope, context: DriverContext): Promise<SweepResult> => {
      const region = scope.place.region ?? '';
      this.asked.push(region);
      this.calls.push(context);
      this.scopes.push(scope);
      await this.before(region, context);
      const machines = this.machines.get(region) ?? [];
      return removeOrphans(machines, scope, context, {
        remove: ([one]) => {
          this.machines.set(
            region,
            (this.machines.get(region) ?? []).filter((each) => each !== one),
          );
          return Promise.resolve();
        },
      });
    },
  } as unknown as ComputeDriver;

  tokensIn(region: string): string[] {
    return (this.machines.get(region) ?? []).map(({ nodeToken }) => nodeToken);
  }
}

// Real: PostgreSQL, the places and their rounds. Left out: the provider, and the secrets of credentials.
describe('machines that no cluster owns', () => {
  const { config, dataSource } = preparedDatabase();
  let tenancy: Tenancy;
  let places: MachinePlacesRepository;
  let provider: Provider;
  let served = true;
  const logger = createLogger('test', 'silent');
  let warnings: jest.SpiedFunction<typeof logger.warn>;

  beforeAll(async () => {
    tenancy = await makeTenancy(dataSource.manager, 'mine');
    places = new MachinePlacesRepository(dataSource);
  });

  beforeEach(async () => {
    await setClock(dataSource, '0 seconds');
    await dataSource.query('UPDATE cluster_nodes SET machine_place_id = NULL');
    await dataSource.query('DELETE FROM machine_places');
    provider = new Provider();
    served = true;
    warnings = jest.spyOn(logger, 'warn');
  });

  const hold = (region: string, of = tenancy) =>
    places.watch(autocommit(dataSource.manager), {
      tenant_id: of.tenantId,
      credentials_conf_id: of.credentialsConfId,
      cloud_provider_id: CLOUD_PROVIDER_ID.AWS,
      endpoint: '',
      account: '',
      region,
    });

  /** Adds a place that is due now. */
  async function due(region: string, of = tenancy): Promise<number> {
    const id = await hold(region, of);
    await dataSource.query(
      `UPDATE machine_places SET due_at = now() - interval '1 second' WHERE machine_place_id = $1`,
      [id],
    );
    return id;
  }

  function sweeper(on = dataSource): OrphanSweeper {
    const reveal = () => Promise.resolve({ credentialTypeId: 1, values: { KEY: 'hush-hush' } });
    const drivers = { serves: () => served, forEnvironment: () => Promise.resolve(provider.driver) };
    return new OrphanSweeper(
      on,
      new MachinePlacesRepository(on),
      new ClusterNodesRepository(on),
      { reveal } as unknown as CredentialsConfsService,
      drivers as unknown as Drivers,
      new Installation(on),
      logger,
    );
  }

  const round = () => sweeper().reconcile(AbortSignal.timeout(DEADLINE_MS));

  /** Moves the clock forward until every place that is not permanently quiet is due. */
  const later = (interval: string) => setClock(dataSource, interval);

  /** `waits` is in half minutes, because some time passes on a busy machine before it is read. */
  async function placeOf(id: number) {
    const [place] = await dataSource.query<
      { failures: number; orphans: number; waits: number; is_over: boolean; is_quiet: boolean }[]
    >(
      `SELECT failures, orphans, due_at = 'infinity' AS is_over, quiet_since IS NOT NULL AS is_quiet,
         30 * round(CASE WHEN due_at < 'infinity' THEN extract(epoch FROM due_at - platform_now()) / 30 END)::int AS waits
       FROM machine_places WHERE machine_place_id = $1`,
      [id],
    );
    if (!place) throw new Error(`There is no place ${id}`);
    return place;
  }

  async function liveNode(placeId: number, number: number): Promise<{ nodeId: number; token: string }> {
    const nodeId = await makeNode(dataSource.manager, tenancy, number);
    const [row] = await dataSource
      .query<[{ token: string }]>(`UPDATE cluster_nodes SET machine_place_id = $2 WHERE node_id = $1 RETURNING token`, [
        nodeId,
        placeId,
      ])
      .then(([updated]) => updated as unknown as [{ token: string }]);
    return { nodeId, token: row.token };
  }

  it('are removed after ten minutes, but not machines of live nodes, younger ones or those with an unknown token', async () => {
    const id = await due('eu-west-1');
    const [live, gone] = [await liveNode(id, 1), await liveNode(id, 2)];
    await setNodeStatus(dataSource.manager, gone.nodeId, 'DESTROYED');
    const [orphan, young] = [randomUUID(), randomUUID()];
    const strange = [
      "'; DROP TABLE cluster_nodes; --",
      '../../etc',
      'x'.repeat(100_000),
      randomUUID().toUpperCase(),
      '',
    ];
    const old = [live.token, gone.token, orphan, ...strange].map((nodeToken) => ({
      nodeToken,
      createdAt: minutesAgo(11),
    }));
    provider.machines.set('eu-west-1', [...old, { nodeToken: young, createdAt: minutesAgo(9) }]);
    await round();
    expect(provider.tokensIn('eu-west-1')).toEqual([live.token, ...strange, young]);
    const [[told] = []] = warnings.mock.calls;
    expect(told).toMatchObject({
      machine_place_id: id,
      region: 'eu-west-1',
      removed: 2,
      node_tokens: [gone.token, orphan],
    });
    expect(provider.calls[0]?.credentials).toEqual({ KEY: 'hush-hush' });
    expect(provider.scopes[0]?.installationId).toBe(await new Installation(dataSource).id());
    // The place is due again soon, to look for the rest of them.
    expect(await placeOf(id)).toMatchObject({ orphans: 2, waits: 120, is_quiet: false });
  });

  it('do not include those of a node that ended while the machines were listed', async () => {
    const id = await due('eu-west-1');
    const node = await liveNode(id, 3);
    provider.machines.set('eu-west-1', [{ nodeToken: node.token, createdAt: minutesAgo(11) }]);
    await round();
    expect(provider.tokensIn('eu-west-1')).toEqual([node.token]);
    provider.before = () => setNodeStatus(dataSource.manager, node.nodeId, 'DESTROYED');
    await later('11 minutes');
    await round();
    expect(provider.tokensIn('eu-west-1')).toEqual([]);
  });

  it('are found among ten thousand machines', async () => {
    await due('eu-west-1');
    const rows = await dataSource.query<{ token: string }[]>(
      `WITH made AS (INSERT INTO cluster_nodes (tenant_id, cluster_id, node_number, role, status, token, cores, memory_mb,
           machine_type_id, machine_price_ycu, is_spot, labels)
         SELECT tenant_id, cluster_id, 1000 + g, role, status, gen_random_uuid(), cores, memory_mb, machine_type_id,
           machine_price_ycu, is_spot, labels
         FROM (SELECT * FROM cluster_nodes LIMIT 1) one, generate_series(1, 9000) g RETURNING node_id, cluster_id, status, token),
       entry AS (INSERT INTO node_states (node_id, cluster_id, sequence, status, reason, start_time)
         SELECT node_id, cluster_id, 1, status, 'As a test has it', platform_clock() FROM made)
       SELECT token FROM made`,
    );
    const live = rows.map(({ token }) => token);
    const orphans = Array.from({ length: 1000 }, () => randomUUID());
    provider.machines.set(
      'eu-west-1',
      [...live, ...orphans].map((nodeToken) => ({ nodeToken, createdAt: minutesAgo(11) })),
    );
    await round();
    expect(provider.tokensIn('eu-west-1')).toEqual(live);
  });

  it('are searched at every place in turn, and by two workers never twice at the same place', async () => {
    const regions = Array.from({ length: 40 }, (_, number) => `region-${number}`);
    for (const region of regions) await due(region);
    const other = await createDataSource(config.database, 'test').initialize();
    try {
      const signal = AbortSignal.timeout(DEADLINE_MS);
      await Promise.all([sweeper().reconcile(signal), sweeper(other).reconcile(signal)]);
    } finally {
      await other.destroy();
    }
    expect(provider.asked.toSorted()).toEqual(regions.toSorted());
    await later('9 minutes');
    await round();
    expect(provider.asked).toHaveLength(40);
    await later('11 minutes');
    await round();
    expect(provider.asked).toHaveLength(80);
  });

  it('are searched by other workers after a worker died in a search', async () => {
    await due('eu-west-1');
    const taken = await places.claim([]);
    expect(taken).toMatchObject({ region: 'eu-west-1' });
    expect(await places.claim([])).toBeNull();
    await later('6 minutes');
    await round();
    expect(provider.asked).toEqual(['eu-west-1']);
  });

  it('are searched elsewhere while accounts of a tenant hang or refuse, and there less and less often', async () => {
    const theirs = await makeTenancy(dataSource.manager, 'theirs');
    const hanging = [await due('hangs-1', theirs), await due('hangs-2', theirs), await due('hangs-3', theirs)];
    const refusing = await due('refuses');
    await due('works');
    provider.machines.set('works', [{ nodeToken: randomUUID(), createdAt: minutesAgo(11) }]);
    provider.before = (region, { signal }) => {
      if (region === 'refuses') throw new ComputeDriverError('Denied', 'the key is not valid', { kind: 'denied' });
      if (!region.startsWith('hangs')) return Promise.resolve();
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('cut'))));
    };
    const pass = new AbortController();
    const running = sweeper().reconcile(pass.signal);
    const held = () => provider.asked.filter((region) => region.startsWith('hangs'));
    await eventually(() => provider.tokensIn('works').length === 0 && warnings.mock.calls.length >= 2);
    await eventually(() => held().length >= 2, { what: 'accounts that hang' });
    // A tenant never takes more than two searches at once.
    expect(held()).toHaveLength(2);
    pass.abort();
    await running;
    const told = warnings.mock.calls.map(([fields]) => fields as object);
    const mine = { tenant_id: tenancy.tenantId, credentials_conf_id: tenancy.credentialsConfId };
    expect(told).toContainEqual(
      expect.objectContaining({ ...mine, region: 'refuses', failures: 1, problem: 'the key is not valid' }),
    );
    expect(JSON.stringify(told)).not.toContain('hush');
    // An aborted pass does not count as their fault.
    expect((await placeOf(hanging[0] ?? 0)).failures).toBe(0);
    const waits = [(await placeOf(refusing)).waits];
    provider.before = () => Promise.reject(new Error('still refuses'));
    for (const interval of ['11 minutes', '1 day', '2 days', '3 days', '4 days', '5 days', '6 days', '7 days']) {
      await later(interval);
      await round();
      waits.push((await placeOf(refusing)).waits);
    }
    expect(waits).toEqual([600, 1200, 2400, 4800, 9600, 19_200, 21_600, 21_600, 21_600]);
    provider.before = () => Promise.resolve();
    await later('8 days');
    await round();
    expect(await placeOf(refusing)).toMatchObject({ failures: 0, waits: 600 });
  });

  it('are searched less often at places where none can be removed', async () => {
    const id = await due('locked');
    provider.machines.set('locked', [{ nodeToken: randomUUID(), createdAt: minutesAgo(11) }]);
    provider.driver.sweep = (scope, context) =>
      removeOrphans(provider.machines.get('locked') ?? [], scope, context, {
        remove: () => Promise.reject(new Error('it is locked')),
      });
    await round();
    await later('11 minutes');
    await round();
    expect(await placeOf(id)).toMatchObject({ failures: 2, orphans: 1, waits: 1200 });
    expect(warnings.mock.calls.at(-1)?.[0]).toMatchObject({ failed: 1, region: 'locked' });
  });

  it('are not searched at places that were empty for an hour, until a node is planned there', async () => {
    const id = await due('eu-west-1');
    const node = await liveNode(id, 4);
    for (const interval of ['11 minutes', '2 hours']) {
      await later(interval);
      await round();
      expect(await placeOf(id)).toMatchObject({ is_over: false, is_quiet: false });
    }
    await setNodeStatus(dataSource.manager, node.nodeId, 'DESTROYED');
    await later('3 hours');
    await round();
    expect(await placeOf(id)).toMatchObject({ is_over: false, is_quiet: true });
    await later('5 hours');
    await round();
    expect(await placeOf(id)).toMatchObject({ is_over: true });
    await later('5 days');
    await round();
    expect(provider.asked).toHaveLength(4);
    expect(await hold('eu-west-1')).toBe(id);
    expect(await placeOf(id)).toMatchObject({ is_over: false, is_quiet: false, waits: 600 });
  });

  it('are left to workers that have the driver', async () => {
    const id = await due('eu-west-1');
    served = false;
    await round();
    expect(provider.asked).toEqual([]);
    expect(await placeOf(id)).toMatchObject({ failures: 0, waits: 60 });
  });
});
