import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { RunReason } from '../../../libs/contracts/agent-protocol';
import { endWorkflow } from '../../platform/workflows/workflow-intents';
import type { Tx } from '../../platform/persistence/sql';
import { ClusterSlotsService } from '../clusters/cluster-slots.service';
import type { LockedCluster } from '../clusters/clusters.contract';
import { RunsRepository } from './runs.repository';
import { isFinished, type RunStatus } from './run-state';
import type { Run } from './entities/run.entity';

export interface RunEnd {
  to: Extract<RunStatus, 'DONE' | 'ERROR' | 'TERMINATED' | 'STOPPED' | 'KILLED'>;
  code: RunReason | 'CLUSTER_STOPPED' | 'CLUSTER_FAILED' | 'CLUSTER_DESTROYED';
  reason: string;
  exitCode: number | null;
}

/** Gives runs their nodes and their ends. Slots are counted under the cluster's row lock. */
@Injectable()
export class RunScheduler {
  constructor(
    private readonly dataSource: DataSource,
    private readonly runs: RunsRepository,
    private readonly clusters: ClusterSlotsService,
  ) {}

  /** Gives waiting runs of the locked cluster the free slots, oldest first, and wakes the nodes that got one. */
  async assignWaiting(tx: Tx, cluster: LockedCluster): Promise<void> {
    const woken = new Set<number>();
    for (const run of await this.runs.waiting(tx, cluster.cluster_id)) {
      const node = await this.clusters.freeNode(tx, cluster);
      if (!node) break;
      await this.runs.assign(tx, run, node.node_id);
      woken.add(node.node_id);
    }
    for (const nodeId of woken) await this.clusters.wake(tx, nodeId);
    if (woken.size > 0) await this.clusters.touch(tx, cluster.cluster_id);
  }

  /** Ends a locked run, its workflows, and gives its slot to the next one. Does nothing for a finished run. */
  async end(tx: Tx, run: Run, end: RunEnd): Promise<void> {
    if (isFinished(run.status)) return;
    await this.runs.transition(tx, run, {
      to: end.to,
      reason: end.reason,
      userId: null,
      columns: { reason_code: end.code, exit_code: end.exitCode },
    });
    const workflowState = end.to === 'DONE' ? 'DONE' : end.to === 'ERROR' ? 'ERROR' : 'TERMINATED';
    const error = end.to === 'ERROR' || end.to === 'TERMINATED' ? end.reason : null;
    await endWorkflow(tx, run.workflow_job_instance_id, workflowState, error);
    if (run.stop_workflow_job_instance_id !== null) await endWorkflow(tx, run.stop_workflow_job_instance_id, 'DONE');
  }

  /** After runs ended or the cluster changed: hands out slots, or ends what can never run, or starts the cluster. */
  async settle(clusterId: number): Promise<void> {
    await this.dataSource.transaction((tx) => this.settleIn(tx, clusterId));
  }

  async settleIn(tx: Tx, clusterId: number): Promise<void> {
    const cluster = await this.clusters.lock(tx, clusterId);
    if (!cluster) return;
    switch (cluster.status) {
      case 'RUNNING':
      case 'RESIZING_UP':
      case 'RESIZING_DOWN':
        await this.assignWaiting(tx, cluster);
        return;
      case 'INITIATING':
      case 'STOPPING':
        return;
      case 'STOPPED':
        await this.settleStopped(tx, cluster);
        return;
      case 'DESTROYING':
      case 'DESTROYED':
        await this.endWaiting(
          tx,
          cluster,
          'CLUSTER_DESTROYED',
          'The cluster was destroyed before the job had started.',
        );
        return;
      case 'ERROR': {
        const cause = await this.clusters.stateReason(tx, clusterId);
        await this.endWaiting(
          tx,
          cluster,
          'CLUSTER_FAILED',
          `The cluster failed before the job had started: ${cause ?? 'no cause recorded'}`,
        );
      }
    }
  }

  /** Runs sent before the stop are ended by it; a run sent while the cluster was stopping starts it again. */
  private async settleStopped(tx: Tx, cluster: LockedCluster): Promise<void> {
    const stopBegan = await this.clusters.lastStopBegan(tx, cluster.cluster_id);
    const waiting = await this.runs.waiting(tx, cluster.cluster_id);
    const later = waiting.filter((run) => stopBegan === null || run.from_date > stopBegan);
    for (const run of waiting) {
      if (later.includes(run)) continue;
      await this.end(tx, run, {
        to: run.status === 'STOPPING' ? 'STOPPED' : 'TERMINATED',
        code: 'CLUSTER_STOPPED',
        reason: 'The cluster was stopped before the job had started.',
        exitCode: null,
      });
    }
    const [first] = later;
    if (!first || !cluster.active) return;
    const refusal = await this.clusters.startRefusal(tx, cluster);
    if (refusal === null) await this.clusters.startFor(tx, cluster, first.created_by_user_id, first.run_id);
    else await this.endWaiting(tx, cluster, 'CLUSTER_FAILED', `The cluster cannot be started for the job: ${refusal}`);
  }

  private async endWaiting(tx: Tx, cluster: LockedCluster, code: RunEnd['code'], reason: string): Promise<void> {
    for (const run of await this.runs.waiting(tx, cluster.cluster_id)) {
      await this.end(tx, run, { to: 'TERMINATED', code, reason, exitCode: null });
    }
  }
}
