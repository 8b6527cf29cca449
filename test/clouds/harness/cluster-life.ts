import { ALWAYS, AT_REST } from '../../harness/invariants.cjs';
import { eventually } from '../../harness/eventually';
import { reachStatus, stateReason } from '../../e2e/harness/estate';
import type { JobDesk } from '../../e2e/harness/jobs';
import type { PlatformUnderTest } from '../../e2e/harness/platform';
import { endedWorkflow, nodesOf } from '../../e2e/harness/survival';
import type { CloudEstate } from './cloud-estate';
import type { StandInAgents } from './stand-in-agents';

/** Nodes of a cluster at first, and after it has grown. */
const [MIN_NODES, MAX_NODES] = [2, 3];
/** Timeout that allows for several waits for the provider, and a killed worker after each. */
const TIMEOUT_MS = 240_000;

export const OPERATIONS = ['start', 'stop', 'restart', 'grow', 'shrink', 'destroy'] as const;
export type LifeOperation = (typeof OPERATIONS)[number];

/** A live machine of a cluster. */
export interface LivingMachine {
  nodeToken: string;
  state: 'running' | 'stopped';
}

/** Resources of a cluster at a fake provider. */
export interface ProviderView {
  machinesOf(clusterId: number): Promise<LivingMachine[]>;
  /** Lists the node tokens of all machines that were ever created and are still listed, one per machine. */
  createdFor(clusterId: number): Promise<string[]>;
  /** Lists the names of all resources of the cluster, not only machines. */
  leftoversOf(clusterId: number): Promise<string[]>;
}

interface LifeOptions {
  platform: PlatformUnderTest;
  desk: JobDesk;
  agents: StandInAgents;
  provider: ProviderView;
  estate: CloudEstate;
  name: string;
}

/**
 * Runs the operations of a cluster through the API. After each operation it checks the invariants of a cluster at rest: in the
 * platform's tables, and at the provider, which must have exactly one machine for each node.
 */
export class ClusterLife {
  private constructor(
    private readonly options: LifeOptions,
    readonly clusterId: number,
    private readonly jobConfId: number,
  ) {}

  static async begin(options: LifeOptions): Promise<ClusterLife> {
    const { desk, estate, name } = options;
    const body = {
      ...{ name, ...estate, cluster_type: 'PLATFORM', min_instances: MIN_NODES, max_instances: MAX_NODES },
      ...{ is_spot_instance: false, enable_public_ip: false, clean_up_timeout: 0 },
      engine_cluster_spark_config: { max_parallel_spark_job_execution_per_instance: 1 },
    };
    const clusterId = Number((await desk.client.post('/cluster', body)).cluster_id);
    const jobConfId = await desk.describe(clusterId, name, { job_type: 'Python3', command: 'job.py' });
    return new ClusterLife(options, clusterId, jobConfId);
  }

  /** Runs the operation. Throws if an invariant does not hold afterwards. */
  async run(operation: LifeOperation): Promise<void> {
    switch (operation) {
      case 'start':
      case 'restart':
        await this.ask('start');
        await this.reach('RUNNING');
        return this.expectSound(MIN_NODES);
      case 'stop':
        await this.ask('stop');
        await this.reach('STOPPED');
        return this.expectSound(MIN_NODES);
      case 'grow':
        for (let count = 0; count < MAX_NODES; count += 1) await this.options.desk.submit(this.jobConfId);
        await this.reachSize(MAX_NODES);
        return this.expectSound(MAX_NODES);
      case 'shrink':
        this.endRuns();
        await this.reachSize(MIN_NODES);
        return this.expectSound(MIN_NODES);
      case 'destroy':
        await this.ask('destroy');
        await this.reach('DESTROYED');
        return this.expectSound(0);
    }
  }

  /** Runs an operation that the provider refuses. Returns the reason that the cluster shows. */
  async runIntoRefusal(operation: LifeOperation): Promise<string> {
    if (operation === 'grow') {
      for (let count = 0; count < MAX_NODES; count += 1) await this.options.desk.submit(this.jobConfId);
      const reason = await eventually(() => this.refusedResize(), {
        timeoutMs: TIMEOUT_MS,
        what: 'the end of a resize',
      });
      this.endRuns();
      return reason;
    }
    await this.ask(operation === 'restart' ? 'start' : (operation as 'start' | 'stop' | 'destroy'));
    const { client } = this.options.desk;
    await reachStatus(client, this.clusterId, 'ERROR', TIMEOUT_MS);
    await endedWorkflow(this.options.platform, this.clusterId, TIMEOUT_MS);
    await this.expectInvariants(ALWAYS);
    return stateReason(client, this.clusterId);
  }

  async expectNoMachine(): Promise<void> {
    expect(await this.options.provider.machinesOf(this.clusterId)).toEqual([]);
  }

  /** Returns the reasons in the histories of all nodes, newest first. */
  async nodeReasons(): Promise<string[]> {
    const sql = `SELECT s.reason FROM node_states s JOIN cluster_nodes n USING (node_id) WHERE n.cluster_id = $1
      ORDER BY node_state_id DESC`;
    return (await this.options.platform.sql<{ reason: string }>(sql, [this.clusterId])).map(({ reason }) => reason);
  }

  private async ask(operation: 'start' | 'stop' | 'destroy'): Promise<void> {
    await this.options.desk.client.post(`/cluster/${operation}`, { cluster_id: this.clusterId });
  }

  private async reach(status: string): Promise<void> {
    await reachStatus(this.options.desk.client, this.clusterId, status, TIMEOUT_MS);
  }

  private endRuns(): void {
    this.options.agents.openGate(this.options.name);
  }

  private async reachSize(nodes: number): Promise<void> {
    const { platform, desk } = this.options;
    await eventually(
      async () => {
        const { cluster_status: status } = await desk.client.get('/cluster', { cluster_id: this.clusterId });
        const found = await nodesOf(platform, this.clusterId);
        const running = found.filter((node) => node.status === 'RUNNING').length;
        if (status !== 'RUNNING' || running !== nodes || found.length !== nodes)
          throw new Error(`it is ${status} with ${JSON.stringify(found)}`);
        return true;
      },
      { timeoutMs: TIMEOUT_MS, everyMs: 200, what: `cluster ${this.clusterId} with ${nodes} nodes` },
    );
  }

  /** Returns why the cluster has not grown. A resize with nothing to do makes no call to the provider. */
  private async refusedResize(): Promise<string | null> {
    const sql = `SELECT reason FROM cluster_states WHERE cluster_id = $1 AND from_status = 'RESIZING_UP'
      AND reason <> 'Its nodes are as planned' ORDER BY sequence LIMIT 1`;
    const [end] = await this.options.platform.sql<{ reason: string }>(sql, [this.clusterId]);
    return end?.reason ?? null;
  }

  private async expectSound(nodes: number): Promise<void> {
    const { platform, provider } = this.options;
    await endedWorkflow(platform, this.clusterId, TIMEOUT_MS);
    const found = await nodesOf(platform, this.clusterId);
    expect(found).toHaveLength(nodes);
    const wanted = found.map(({ token, status }) => ({ nodeToken: token, state: status.toLowerCase() }));
    const machines = await provider.machinesOf(this.clusterId);
    expect(sorted(machines)).toEqual(sorted(wanted));
    const made = await provider.createdFor(this.clusterId);
    expect(made.toSorted()).toEqual([...new Set(made)].toSorted());
    if (nodes === 0) expect(await provider.leftoversOf(this.clusterId)).toEqual([]);
    await this.expectInvariants(nodes === 0 ? [...ALWAYS, ...OF_CLUSTER_AT_REST] : ALWAYS);
  }

  private async expectInvariants(invariants: typeof ALWAYS): Promise<void> {
    for (const { name, sql } of invariants)
      await eventually(
        async () => {
          const broken = await this.options.platform.sql(sql, [this.clusterId]);
          if (broken.length > 0) throw new Error(JSON.stringify(broken.slice(0, 3)));
          return true;
        },
        { timeoutMs: TIMEOUT_MS, what: `${name} (cluster ${this.clusterId})` },
      );
  }
}

/** The other queues of the platform may contain messages. */
const OF_CLUSTER_AT_REST = AT_REST.filter(({ sql }) => !sql.includes('outbox_messages'));

function sorted<T extends { nodeToken: string }>(all: readonly T[]): T[] {
  return all.toSorted((one, other) => (one.nodeToken < other.nodeToken ? -1 : 1));
}
