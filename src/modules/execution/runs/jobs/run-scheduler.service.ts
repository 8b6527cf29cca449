import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { LOGGER, type Logger } from '../../../../platform/kernel/logging/logger';
import { enqueue } from '../../../../platform/background/outbox/outbox';
import { Coalesced } from '../../../../platform/kernel/process/coalesced';
import { type Tx, inTransaction } from '../../../../platform/kernel/persistence/sql';
import { ClusterSlotsService, type LockedCluster } from '../../clusters';
import { type Barrier, RunsRepository, type WaitingRun } from './runs.repository';
import type { ReasonCode } from './reason-codes';
import { isFinished, type RunStatus, type RunStep, STOPPABLE } from './run-state';
import type { Run } from './entities/run.entity';

export interface RunEnd {
  to: Extract<RunStatus, 'DONE' | 'ERROR' | 'TERMINATED' | 'STOPPED' | 'KILLED'>;
  code: ReasonCode;
  reason: string;
  exitCode: number | null;
  step: RunStep;
}

/** Reasons of runs that end because their submitter may no longer run them. */
const BARRIER_REASONS: Readonly<Record<Barrier, string>> = {
  SUBMITTER_DISABLED:
    'The account of the submitter was disabled before the job started. Submit the job again as another user.',
  SUBMITTER_NOT_ALLOWED:
    'The submitter lost the right to run jobs in the workspace before the job started. Submit the job again as a user who has a role in the tenant and RUN on the workspace.',
};

/** Runs per transaction. Others wait for the cluster's lock meanwhile, so it must be short. */
const BATCH = 100;

/** Assigns runs to nodes and ends runs. Slots are assigned under the cluster's row lock. */
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
   * Assigns free slots of the locked cluster to waiting runs, oldest first, and notifies the nodes. Returns true if there may be
   * more free slots and waiting runs.
   */
  async assignWaiting(tx: Tx, cluster: LockedCluster): Promise<boolean> {
    const slots = await this.clusters.freeSlots(tx, cluster, BATCH);
    if (slots.length === 0) return false;
    const found = await this.runs.waiting(tx, cluster.cluster_id, slots.length);
    const waiting = await this.endBarred(tx, found);
    if (waiting.length === 0) return found.length > 0;
    const assigned = slots.slice(0, waiting.length);
    await this.runs.assign(
      tx,
      waiting.map((run) => run.run_id),
      assigned,
    );
    await this.clusters.take(tx, assigned);
    return assigned.length === BATCH || waiting.length < found.length;
  }

  /** Ends a locked run, frees its slot and records activity of its cluster. Does nothing for a finished run. */
  async end(tx: Tx, run: Run, end: RunEnd): Promise<void> {
    if (isFinished(run.status)) return;
    await this.endAll(tx, [run], end);
    await this.clusters.touch(tx, run.cluster_id, run.assigned_at && Date.now() - run.assigned_at.getTime());
  }

  /**
   * Schedules again after a commit: a run that was inserted without the cluster's lock and a slot that was freed concurrently do
   * not see each other before. One pass serves all transactions that committed before it began. A failure only delays the runs,
   * because the reconciler schedules them, too.
   */
  reschedule(clusterId: number): Promise<void> {
    return this.passes.run(clusterId);
  }

  /**
   * Stops a batch of the cluster's runs that were submitted until then. Runs without a node end at once; the agents of the others
   * are notified. Returns true if there may be more.
   */
  async stopBatch(
    clusterId: number,
    { submittedBy, userId }: { submittedBy: Date; userId: number | null },
  ): Promise<boolean> {
    const step = 'stop-jobs';
    const stopping = { to: 'STOPPING', reason: 'Stop of all jobs of the cluster requested', userId, step } as const;
    const columns = { stop_requested: true };
    return inTransaction(this.dataSource, async (tx) => {
      const cluster = await this.clusters.lock(tx, clusterId);
      if (!cluster) return false;
      const waiting = (await this.runs.waiting(tx, clusterId, BATCH)).filter((run) => run.from_date <= submittedBy);
      if (waiting.length > 0) {
        await this.runs.transition(tx, waiting, { ...stopping, columns });
        const reason = 'Stopped before it started.';
        await this.endAll(tx, waiting, { to: 'STOPPED', code: 'STOP_REQUESTED', reason, exitCode: null, step });
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
      this.logger.warn(
        { err: error, cluster_id: clusterId },
        'Could not schedule the waiting jobs of a cluster; the reconciler of jobs tries again',
      );
    }
  }

  /**
   * Called after runs ended or the cluster changed: assigns slots, ends runs that can never start, or starts the cluster. Uses as
   * many transactions as it takes.
   */
  async schedule(clusterId: number): Promise<void> {
    while (await this.placeRuns(clusterId));
  }

  private placeRuns(clusterId: number): Promise<boolean> {
    return inTransaction(this.dataSource, async (tx) => {
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
        const reason = `The cluster failed before the job started: ${cause ?? 'no cause was recorded'}`;
        return this.endWaiting(tx, cluster, 'CLUSTER_FAILED', reason);
      }
    }
  }

  /** A stop ends the runs that were submitted before it; a run that was submitted during the stop starts the cluster again. */
  private async placeInStopped(tx: Tx, cluster: LockedCluster): Promise<boolean> {
    const stopBegan = await this.clusters.lastStopBegan(tx, cluster.cluster_id);
    const waiting = await this.endBarred(tx, await this.runs.waiting(tx, cluster.cluster_id, BATCH));
    const earlier = waiting.filter((run) => stopBegan !== null && run.from_date <= stopBegan);
    if (earlier.length > 0) {
      const reason = 'The cluster was stopped before the job started.';
      await this.endAll(tx, earlier, {
        to: 'TERMINATED',
        code: 'CLUSTER_STOPPED',
        reason,
        exitCode: null,
        step: 'schedule',
      });
      return true;
    }
    // Ids grow with time, so all remaining runs were submitted after the stop.
    const [first] = waiting;
    if (!first || !cluster.active) return false;
    const refusal = await this.clusters.startRefusal(tx, cluster);
    if (refusal !== null) {
      return this.endWaiting(tx, cluster, 'CLUSTER_FAILED', `The cluster cannot be started for the job: ${refusal}`);
    }
    await this.clusters.startForRun(tx, cluster, first.created_by_user_id, first.run_id);
    return false;
  }

  /**
   * Ends waiting runs whose submitters could no longer submit them, because they would start with the submitter's secrets, and
   * returns the others. Runs that wait after the ended ones are scheduled after the commit.
   */
  private async endBarred(tx: Tx, waiting: readonly WaitingRun[]): Promise<WaitingRun[]> {
    const barred = waiting.filter((run) => run.barred !== null);
    const [first] = barred;
    if (!first) return [...waiting];
    for (const [code, reason] of Object.entries(BARRIER_REASONS) as [Barrier, string][]) {
      const alike = barred.filter((run) => run.barred === code);
      await this.endAll(tx, alike, { to: 'TERMINATED', code, reason, exitCode: null, step: 'schedule' });
    }
    await enqueue(tx, 'job.dispatch', { cluster_id: first.cluster_id });
    return waiting.filter((run) => run.barred === null);
  }

  /** Does not update the cluster's row: transactions that wait for its lock would have to queue again for the new version. */
  private async endWaiting(tx: Tx, cluster: LockedCluster, code: RunEnd['code'], reason: string): Promise<boolean> {
    const waiting = await this.runs.waiting(tx, cluster.cluster_id, BATCH);
    await this.endAll(tx, waiting, { to: 'TERMINATED', code, reason, exitCode: null, step: 'schedule' });
    return waiting.length === BATCH;
  }

  /** Ends unfinished runs of one cluster, which are all in the same status, and frees their slots. */
  private async endAll(tx: Tx, runs: readonly Run[], { to, code, reason, exitCode, step }: RunEnd): Promise<void> {
    if (runs.length === 0) return;
    const columns = { reason_code: code, exit_code: exitCode };
    await this.runs.transition(tx, runs, { to, reason, userId: null, step, columns });
    const nodes = runs.map((run) => run.node_id).filter((id) => id !== null);
    if (nodes.length > 0) await this.clusters.free(tx, nodes);
  }
}
