import { type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Pool } from 'pg';
import { DataSource } from 'typeorm';
import type { NodeRef } from '../../../libs/compute-drivers/compute-driver';
import type { RunOutcome } from '../../../libs/contracts/agent-protocol';
import { ALWAYS, AT_REST } from '../../harness/invariants.cjs';
import { seededRandom, type SeededRandom } from '../../harness/seeded-random.cjs';
import { Config } from '../../../src/config/config';
import { LOCAL_ENDPOINT } from '../../../src/modules/infrastructure/environments/cloud-environments/cloud-envs.joins';
import { OnPremNodesService } from '../../../src/modules/infrastructure/environments/cloud-environments/onprem-nodes.service';
import { ClusterSnapshots } from '../../../src/modules/execution/clusters/provisioning/cluster-snapshot';
import { ClusterScaler } from '../../../src/modules/execution/clusters/scaling/cluster-scaler';
import { Drivers } from '../../../src/modules/execution/clusters/provisioning/drivers';
import { ScalingReconciler } from '../../../src/modules/execution/clusters/scaling/scaling-reconciler';
import { RunScheduler } from '../../../src/modules/execution/runs/jobs/run-scheduler.service';
import { JobDispatchHandler } from '../../../src/modules/execution/runs/jobs/background/job-dispatch.handler';
import { JobReconciler } from '../../../src/modules/execution/runs/jobs/background/job-reconciler';
import { runInContext } from '../../../src/platform/kernel/context/request-context';
import { LOGGER } from '../../../src/platform/kernel/logging/logger';
import { OutboxRelay } from '../../../src/platform/background/outbox/outbox-relay';
import type { WorkflowPayload } from '../../../src/platform/background/queues/job-catalogue';
import { Queues } from '../../../src/platform/background/queues/queues';
import type { PgListener } from '../../../src/platform/kernel/notifications/pg-listener';
import { ThisWorker } from '../../../src/platform/background/workers/this-worker';
import { WorkflowJobs } from '../../../src/platform/background/workflows/workflow-jobs';
import { WorkflowReconciler } from '../../../src/platform/background/workflows/workflow-reconciler';
import { WorkerModule } from '../../../src/worker.module';
import { setClock } from '../harness/clock';
import { makeTenancy, type Tenancy } from '../harness/records';
import { configure, createTestDatabase, prepare, type TestDatabase } from '../harness/test-api';
import { Interleaving } from './interleaving';

/** Longer than a seed runs: only a jump of the clock ends a lease. */
const LEASE_MS = 60_000;
const ROUNDS = 40;

interface Message {
  name: string;
  payload: Record<string, unknown>;
}

/**
 * The services of a worker, all of them real, on a database of its own. A list of messages replaces BullMQ, which may
 * deliver anything at any time and twice; a driver that always succeeds replaces the machines.
 */
export class World {
  readonly signal = new AbortController().signal;
  private messages: Message[] = [];
  private handlers = new Map<string, (payload: never) => Promise<void>>();
  private aheadSeconds = 0;
  private clockTurn: Promise<void> = Promise.resolve();
  private made = 0;

  private constructor(
    readonly database: TestDatabase,
    readonly app: INestApplicationContext,
    /** Connections of the tests, whose statements take no turns. */
    private readonly plain: Pool,
    readonly interleaving: Interleaving,
    readonly tenancy: Tenancy,
  ) {}

  static async make(): Promise<World> {
    const database = await createTestDatabase();
    const config = configure(database.url, { WORKFLOW_LEASE_MS: String(LEASE_MS), DATABASE_POOL_SIZE: '30' });
    await prepare(config);
    const app = await NestFactory.createApplicationContext(WorkerModule, { logger: false, abortOnError: false });
    app.get(ThisWorker).setId(1);
    const dataSource = app.get(DataSource);
    const tenancy = await makeTenancy(dataSource.manager, 'interleaved');
    await dataSource.query(`UPDATE cloud_envs SET endpoint = $1`, [LOCAL_ENDPOINT]);
    const plain = new Pool({ connectionString: database.url, max: 4 });
    const world = new World(database, app, plain, await Interleaving.of(dataSource, database.url), tenancy);
    world.replaceOutside();
    return world;
  }

  private replaceOutside(): void {
    const add: Queues['add'] = (name, _definition, payload) =>
      Promise.resolve(void this.messages.push({ name, payload }));
    this.app.get(Queues).add = add;
    const call: ClusterSnapshots['withDriver'] = (_facts, _caller, use) => use(this.driver as never, {} as never);
    this.app.get(ClusterSnapshots).withDriver = call;
    this.app.get(Drivers).isolateTenants = () => true;
    this.app.get(Drivers).serves = () => true;
    this.app.get(OnPremNodesService).allowsLocalNodes = () => Promise.resolve(true);
    // Only the deeds of a test run, so background work is off.
    void this.app.get(ScalingReconciler).onApplicationShutdown();
    // Callers in one process share a pass, which ends with the process. Here each deed is a process that may crash.
    const scheduler = this.app.get(RunScheduler);
    scheduler.reschedule = (clusterId) => scheduler['pass'](clusterId);
    this.handlers = new Map(this.app.get(WorkflowJobs).handlers());
    const dispatch = this.app.get(JobDispatchHandler);
    this.handlers.set('job.dispatch', (payload) => dispatch.handle(payload));
  }

  private readonly driver = {
    provision: (spec: { labels: { nodeToken: string } }) => this.machine(spec.labels.nodeToken),
    start: (ref: NodeRef) => this.machine(ref.nodeToken),
    canStop: () => true,
    stop: () => Promise.resolve('stopped'),
    destroy: () => Promise.resolve('gone'),
    describe: (refs: NodeRef[]) => Promise.all(refs.map((ref) => this.machine(ref.nodeToken))),
  };

  private machine(token: string) {
    const providerRef = `test:${token}`;
    return Promise.resolve({
      labels: { nodeToken: token },
      providerRef,
      state: 'running',
      ...{ privateIp: null, publicIp: null, createdAt: null, fault: null },
    });
  }

  get<T>(type: abstract new (...args: never[]) => T): T {
    return this.app.get<T>(type);
  }

  /** Returns a unique name for a record. */
  name(): string {
    this.made += 1;
    return `made-${this.made}`;
  }

  /** Reads or writes outside of the deeds. */
  async sql<T>(statement: string, parameters: unknown[] = []): Promise<T[]> {
    return (await this.plain.query(statement, parameters)).rows as T[];
  }

  /** Moves the clock forward. */
  pass(seconds: number): Promise<void> {
    // One after the other: PostgreSQL refuses to replace a function twice at once.
    this.clockTurn = this.clockTurn.then(() => this.setClockAhead(seconds));
    return this.clockTurn;
  }

  private async setClockAhead(seconds: number): Promise<void> {
    this.aheadSeconds += seconds;
    const clock = { query: (statement: string) => this.plain.query(statement) } as unknown as DataSource;
    await setClock(clock, `${this.aheadSeconds} seconds`);
  }

  /** Ends every lease that is currently held. */
  passLease(): Promise<void> {
    return this.pass(LEASE_MS / 1_000 + 1);
  }

  /** Runs the relay of one worker, which sends the messages it finds and ends. */
  async relay(): Promise<void> {
    const listener = { on: () => () => undefined } as unknown as PgListener;
    const [queues, config] = [this.app.get(Queues), this.app.get(Config)];
    const relay = new OutboxRelay(this.app.get(DataSource), queues, listener, config, this.app.get(LOGGER));
    relay.start();
    await relay.stop();
  }

  /** Delivers one of the messages; it may be delivered again. */
  async deliver(random: SeededRandom): Promise<void> {
    if (this.messages.length === 0) return;
    const message = random.pick(this.messages);
    if (random.below(2) === 0) this.messages = this.messages.filter((other) => other !== message);
    await this.handle(message);
  }

  /** Deletes everything in Redis. */
  forgetMessages(): void {
    this.messages = [];
  }

  /** Handles the messages of a job with this function instead of the worker's own handler. */
  handleWith(name: string, handler: (payload: WorkflowPayload) => Promise<void>): void {
    this.handlers.set(name, handler);
  }

  private handle({ name, payload }: Message): Promise<void> {
    const handler = this.handlers.get(name);
    if (!handler) throw new Error(`Nothing handles ${name}`);
    return runInContext({ correlationId: 'test', idempotency: null }, () => handler(payload as never));
  }

  async reconcileWorkflows(): Promise<void> {
    await this.app.get(WorkflowReconciler).reconcile();
  }

  async reconcileJobs(): Promise<void> {
    await this.app.get(JobReconciler).reconcile(this.signal);
  }

  /** Lets the cluster scale with its work. */
  async scale(clusterId: number): Promise<void> {
    await this.app.get(ClusterScaler).scale(clusterId);
  }

  /** Runs platform and agents without faults until nothing of the cluster is in progress. */
  async comeToRest(clusterId: number, agents: () => Promise<void>): Promise<void> {
    for (let round = 0; round < ROUNDS; round += 1) {
      await this.relay();
      for (const message of this.messages.splice(0)) await this.handle(message);
      await agents();
      if ((await this.violations(AT_REST, clusterId)).length === 0) return;
      await this.passLease();
      await this.reconcileWorkflows();
      await this.reconcileJobs();
      await this.scale(clusterId);
    }
  }

  /** Returns the violations of the invariants that a cluster at rest must satisfy. */
  async brokenAtRest(clusterId: number): Promise<string[]> {
    return this.violations([...ALWAYS, ...AT_REST], clusterId);
  }

  private async violations(invariants: readonly { name: string; sql: string }[], clusterId: number): Promise<string[]> {
    const statements = invariants.map(({ sql }) => sql.replaceAll('$1', String(clusterId)));
    const results = (await this.plain.query(statements.join(';\n'))) as unknown as { rows: unknown[] }[];
    return invariants.flatMap(({ name }, index) => {
      const found = results[index]?.rows ?? [];
      return found.length === 0 ? [] : [`${name}: ${JSON.stringify(found.slice(0, 5))}`];
    });
  }

  async close(): Promise<void> {
    await this.interleaving.close();
    await this.plain.end();
    await this.app.close();
    await this.database.drop();
  }
}

/** Returns separate draws for each purpose, so that a further draw for one does not change the others. */
export function randomFor(seed: number, purpose: number): SeededRandom {
  return seededRandom(seed * 31 + purpose);
}

/** The possible outcomes of a run that ends by itself. {@link STOPPED_OUTCOMES} are those of a stopped run. */
export const OUTCOMES: readonly RunOutcome[] = ['done', 'error', 'terminated'];
export const STOPPED_OUTCOMES: readonly RunOutcome[] = ['stopped', 'killed', 'done'];
