import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { RunReason } from '../../../../../libs/contracts/agent-protocol';
import { LOGGER, type Logger } from '../../../../platform/kernel/logging/logger';
import { enqueue } from '../../../../platform/background/outbox/outbox';
import { Coalesced } from '../../../../platform/kernel/process/coalesced';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { ClusterSlotsService, type LockedCluster } from '../../clusters';
import { type Barrier, RunsRepository, type WaitingRun } from './runs.repository';
import { isFinished, type RunStatus, STOPPABLE } from './run-state';
import type { Run } from './entities/run.entity';

export interface RunEnd {
  to: Extract<RunStatus, 'DONE' | 'ERROR' | 'TERMINATED' | 'STOPPED' | 'KILLED'>;
  code: RunReason | 'CLUSTER_STOPPED' | 'CLUSTER_FAILED' | 'CLUSTER_DESTROYED' | Barrier;
  reason: string;
  exitCode: number | null;
}

/** Why a run ends instead of beginning, and what to do about it. */
const BARRED: Readonly<Record<Barrier, string>> = {
  SUBMITTER_DISABLED:
    'The account of the submitter was disabled before the job started. Submit the job again as another user.',
  SUBMITTER_NOT_ALLOWED:
    'The submitter lost the right to run jobs in the workspace before the job started. Submit the job again as a user who has a role in the tenant and RUN on the workspace.',
};

/** Runs that one transaction gives a node or an end: others wait for the cluster meanwhile. */
const BATCH = 100;

/** Gives runs their nodes and their ends. Slots are given under the cluster's row lock. */
@Injectable()
export class RunScheduler {
  private readonly passes = new Coalesced((clusterId: number) => this.pass(clusterId));

  constructor(
    private readonly dataSource: DataSource,
    private readonly runs: RunsRepository,
    private readonly clusters: ClusterSlotsService,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Gives waiting runs of the locked cluster free slots, oldest first, and wakes the nodes that got one. True if there
   * may be more of both.
   */
  async assignWaiting(tx: Tx, cluster: LockedCluster): Promise<boolean> {
    const slots = await this.clusters.freeSlots(tx, cluster, BATCH);
    if (slots.length === 0) return false;
    const found = await this.runs.waiting(tx, cluster.cluster_id, slots.length);
    const waiting = await this.beginnable(tx, found);
    if (waiting.length === 0) return found.length > 0;
    const given = slots.slice(0, waiting.length);
    await this.runs.assign(
      tx,
      waiting.map((run) => run.run_id),
      given,
    );
    await this.clusters.take(tx, given);
    return given.length === BATCH || waiting.length < found.length;
  }

  /** Ends a locked run, frees its slot, and notes that its cluster was active. Does nothing for a finished run. */
  async end(tx: Tx, run: Run, end: RunEnd): Promise<void> {
    if (isFinished(run.status)) return;
    await this.endAll(tx, [run], end);
    await this.clusters.touch(tx, run.cluster_id, run.assigned_at && Date.now() - run.assigned_at.getTime());
  }

  /**
   * Schedules once more after a commit: a run that was written without the cluster's lock, and a slot that became free
   * meanwhile, do not see each other before. One pass serves all that committed before it began. A failure costs time,
   * not the run: the reconciler schedules, too.
   */
  reschedule(clusterId: number): Promise<void> {
    return this.passes.run(clusterId);
  }

  /**
   * Stops some runs of the cluster that were submitted by then: those without a node end at once, the others' agents are
   * told. True if there may be more.
   */
  async stopSome(
    clusterId: number,
    { submittedBy, userId }: { submittedBy: Date; userId: number | null },
  ): Promise<boolean> {
    const stopping = { to: 'STOPPING', reason: 'Stop of all jobs of the cluster requested', userId } as const;
    const columns = { stop_requested: true };
    return this.dataSource.transaction(async (tx) => {
      const cluster = await this.clusters.lock(tx, clusterId);
      if (!cluster) return false;
      const waiting = (await this.runs.waiting(tx, clusterId, BATCH)).filter((run) => run.from_date <= submittedBy);
      if (waiting.length > 0) {
        await this.runs.transition(tx, waiting, { ...stopping, columns });
        const reason = 'Stopped before it started.';
        await this.endAll(tx, waiting, { to: 'STOPPED', code: 'STOP_REQUESTED', reason, exitCode: null });
        return true;
      }
      const placed = await this.runs.stoppableOnNodes(tx, clusterId, submittedBy, BATCH);
      for (const status of STOPPABLE) {
        const alike = placed.filter((run) => run.status === status);
        await this.runs.transition(tx, alike, { ...stopping, columns });
      }
      const nodes = placed.map((run) => run.node_id).filter((id) => id !== null);
      if (nodes.length > 0) await this.clusters.wake(tx, nodes);
      return placed.length === BATCH;
    });
  }

  private async pass(clusterId: number): Promise<void> {
    try {
      if (await this.runs.needsScheduling(clusterId)) await this.placeRuns(clusterId);
    } catch (error) {
      this.logger.warn({ err: error, cluster_id: clusterId }, 'Waiting jobs are settled later');
    }
  }

  /**
   * After runs ended or the cluster changed: hands out slots, or ends what can never run, or starts the cluster. In as
   * many transactions as it takes.
   */
  async schedule(clusterId: number): Promise<void> {
    while (await this.placeRuns(clusterId));
  }

  /** True if there may be more to place. */
  private placeRuns(clusterId: number): Promise<boolean> {
    return this.dataSource.transaction(async (tx) => {
      const cluster = await this.clusters.lock(tx, clusterId);
      return cluster !== null && this.placeIn(tx, cluster);
    });
  }

  private async placeIn(tx: Tx, cluster: LockedCluster): Promise<boolean> {
    switch (cluster.status) {
      case 'RUNNING':
      case 'RESIZING_UP':
      case 'RESIZING_DOWN':
        return this.assignWaiting(tx, cluster);
      case 'INITIATING':
      case 'STOPPING':
        return false;
      case 'STOPPED':
        return this.placeInStopped(tx, cluster);
      case 'DESTROYING':
      case 'DESTROYED':
        return this.endWaiting(tx, cluster, 'CLUSTER_DESTROYED', 'The cluster was destroyed before the job started.');
      case 'ERROR': {
        const cause = await this.clusters.stateReason(tx, cluster.cluster_id);
        const reason = `The cluster failed before the job started: ${cause ?? 'no cause recorded'}`;
        return this.endWaiting(tx, cluster, 'CLUSTER_FAILED', reason);
      }
    }
  }

  /** Runs sent before the stop are ended by it; a run sent while the cluster was stopping starts it again. */
  private async placeInStopped(tx: Tx, cluster: LockedCluster): Promise<boolean> {
    const stopBegan = await this.clusters.lastStopBegan(tx, cluster.cluster_id);
    const waiting = await this.beginnable(tx, await this.runs.waiting(tx, cluster.cluster_id, BATCH));
    const earlier = waiting.filter((run) => stopBegan !== null && run.from_date <= stopBegan);
    if (earlier.length > 0) {
      const reason = 'The cluster was stopped before the job started.';
      await this.endAll(tx, earlier, { to: 'TERMINATED', code: 'CLUSTER_STOPPED', reason, exitCode: null });
      return true;
    }
    // Ids grow with time: behind one that was sent later there are only such.
    const [first] = waiting;
    if (!first || !cluster.active) return false;
    const refusal = await this.clusters.startRefusal(tx, cluster);
    if (refusal !== null) {
      return this.endWaiting(tx, cluster, 'CLUSTER_FAILED', `The cluster cannot be started for the job: ${refusal}`);
    }
    await this.clusters.startFor(tx, cluster, first.created_by_user_id, first.run_id);
    return false;
  }

  /**
   * Ends waiting runs whose submitters could no longer submit them, since such a run would begin with the user's secrets, and returns
   * the others. Runs that wait behind the ended ones are looked at after the commit.
   */
  private async beginnable(tx: Tx, waiting: readonly WaitingRun[]): Promise<WaitingRun[]> {
    const barred = waiting.filter((run) => run.barred !== null);
    const [first] = barred;
    if (!first) return [...waiting];
    for (const [code, reason] of Object.entries(BARRED) as [Barrier, string][]) {
      const alike = barred.filter((run) => run.barred === code);
      await this.endAll(tx, alike, { to: 'TERMINATED', code, reason, exitCode: null });
    }
    await enqueue(tx, 'job.dispatch', { cluster_id: first.cluster_id });
    return waiting.filter((run) => run.barred === null);
  }

  /** Leaves the cluster's row as it is: whoever waits for its lock would have to queue anew for a new version of it. */
  private async endWaiting(tx: Tx, cluster: LockedCluster, code: RunEnd['code'], reason: string): Promise<boolean> {
    const waiting = await this.runs.waiting(tx, cluster.cluster_id, BATCH);
    await this.endAll(tx, waiting, { to: 'TERMINATED', code, reason, exitCode: null });
    return waiting.length === BATCH;
  }

  /** Ends unfinished runs of one cluster, all in one status, and frees their slots. */
  private async endAll(tx: Tx, runs: readonly Run[], { to, code, reason, exitCode }: RunEnd): Promise<void> {
    if (runs.length === 0) return;
    const columns = { reason_code: code, exit_code: exitCode };
    await this.runs.transition(tx, runs, { to, reason, userId: null, columns });
    const nodes = runs.map((run) => run.node_id).filter((id) => id !== null);
    if (nodes.length > 0) await this.clusters.free(tx, nodes);
  }
}
