import { Injectable } from '@nestjs/common';
import type { LogStream } from '../../../../../libs/contracts/agent-protocol';
import type { WorkspaceScope } from '../../../../platform/kernel/auth/principal';
import { correlationId } from '../../../../platform/kernel/context/request-context';
import { conflict, invalid, notFound } from '../../../../platform/kernel/errors/domain-error';
import type { LogSlice } from '../../../../platform/kernel/files/content';
import { openEnded } from '../../../../platform/kernel/dto/answers';
import type { Page } from '../../../../platform/kernel/dto/page';
import type { RecordSelector } from '../../../../platform/kernel/dto/selector';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { Transactions } from '../../../../platform/kernel/persistence/transactions';
import { toWire } from '../../../../platform/kernel/product/product-name';
import { startWorkflow, type WorkflowRef } from '../../../../platform/background/workflows/workflow-intents';
import { workflowErrors } from '../../../../platform/background/workflows/workflow-errors';
import { checkConf, ClusterSlotsService, GIVES_SLOTS, type LockedCluster } from '../../clusters';
import { DependencyRepositoriesService, LogsService } from '../../../infrastructure/storage';
import { ReferenceData } from '../../../foundation/reference-data';
import { notAssociated, WorkspacesService } from '../../workspaces';
import type { JobLogQuery, JobWorkflow, WorkflowErrorRead } from './dto/job.dto';
import { assertReachable } from './file-reference';
import type { Run } from './entities/run.entity';
import type { ConfsRepository } from './job-confs.repository';
import { shownLanguage } from './job-types';
import { filesNamed, repositoriesNamed } from './run-spec';
import { RunScheduler } from './run-scheduler.service';
import { STOPPABLE } from './run-state';
import { STOP_RUN } from './run-workflows';
import type { RunDetailRow, RunsOfKindRepository, Submission } from './runs.repository';
import { splitArguments } from './split-arguments';

/** What runs of every kind are begun and ended with. */
@Injectable()
export class RunParts {
  constructor(
    readonly transactions: Transactions,
    readonly scheduler: RunScheduler,
    readonly clusters: ClusterSlotsService,
    readonly workspaces: WorkspacesService,
    readonly logs: LogsService,
    readonly referenceData: ReferenceData,
    readonly dependencies: DependencyRepositoriesService,
  ) {}
}

/** What is asked of a single run. */
export interface AskedRun {
  /** Of its configuration. */
  selector: RecordSelector;
  arguments?: string | null | undefined;
  conf?: string[] | null | undefined;
}

/** Runs of one kind of configuration: submit, read, stop. */
export abstract class RunsOfKind {
  constructor(
    protected readonly parts: RunParts,
    protected readonly repository: RunsOfKindRepository,
    private readonly confs: ConfsRepository,
  ) {}

  /**
   * Submits a run. With a free slot it has its node when this commits; a stopped cluster is started; else it waits in
   * SUBMITTED. Only the gift of a slot and the start need the cluster's lock.
   * @param answer what the caller is told, made in the transaction with whatever else is written of the run
   */
  protected async submitRun<T>(
    scope: WorkspaceScope,
    given: AskedRun,
    answer: (tx: Tx, run: Run) => T | Promise<T>,
  ): Promise<T> {
    const { transactions, clusters, scheduler } = this.parts;
    splitArguments(given.arguments ?? '');
    checkConf(this.repository.confKind === 'job' ? 'JOB' : 'NOTEBOOK', given.conf);
    let waitsFor: number | null = null;
    const told = await transactions.run(async (tx) => {
      const asked = await this.submission(tx, scope, given);
      const cluster = await this.lockForRun(tx, asked);
      if (asked.max_concurrency > 0) await this.confs.countOneMore(tx, asked);
      const { job_conf_id, name, job_type, language, settings } = asked;
      const added = await this.repository.submit(tx, {
        run_id: asked.run_id,
        tenant_id: scope.tenantId,
        workspace_id: scope.workspace.workspaceId,
        job_conf_id,
        cluster_id: asked.cluster_id,
        created_by_user_id: scope.userId,
        status: 'SUBMITTED',
        job_conf_snapshot: { job_conf_id, name, job_type, language, settings },
        arguments: given.arguments ?? null,
        conf: given.conf ?? null,
        correlation_id: correlationId(),
      });
      const made = await answer(tx, added);
      if (cluster?.status === 'STOPPED') await clusters.startFor(tx, cluster, scope.userId, added.run_id);
      else if (cluster) await scheduler.assignWaiting(tx, cluster);
      waitsFor = cluster ? null : asked.cluster_id;
      if (waitsFor !== null && asked.may_grow && GIVES_SLOTS.includes(asked.cluster_status))
        await clusters.askForMore(tx, waitsFor);
      return made;
    });
    if (waitsFor !== null) void scheduler.lookAgain(waitsFor);
    return told;
  }

  async log(scope: WorkspaceScope, runId: number, stream: LogStream, query: JobLogQuery): Promise<LogSlice> {
    const run = await this.row(scope, runId);
    const log = { kind: 'run' as const, id: run.run_id, stream };
    const { last_n_lines: lastLines, file_size_bytes: firstBytes, offset } = query;
    if (!query.follow) return this.parts.logs.open(log, { lastLines, firstBytes, offset });
    if (firstBytes !== undefined) {
      throw invalid(
        `${this.repository.kind.code}.LOG_PART`,
        'The first bytes of a log cannot be followed. Leave out file_size_bytes or follow.',
      );
    }
    return this.parts.logs.follow(log, { lastLines, offset }, () => this.repository.hasEnded(run.run_id));
  }

  async errors(
    scope: WorkspaceScope,
    runId: number,
    page: { limit: number; pageNumber: number },
  ): Promise<Page<WorkflowErrorRead>> {
    const run = await this.row(scope, runId);
    const instances = [run.workflow_job_instance_id, run.stop_workflow_job_instance_id].filter((id) => id !== null);
    return this.parts.transactions.read((tx) => workflowErrors(tx, instances, page));
  }

  /** Asks a run to end. One without a node ends at once; else its agent is told, and reports the end. */
  protected async stopRun<T>(
    scope: WorkspaceScope,
    runId: number,
    answer: (run: Run, workflow: WorkflowRef) => T,
  ): Promise<T> {
    const { code, label } = this.repository.kind;
    return this.parts.transactions.run(async (tx) => {
      await this.row(scope, runId, tx);
      // The cluster is locked first, as for every gift of a slot: otherwise the run could get a node meanwhile.
      const before = await this.repository.lockCluster(tx, runId);
      const run = await this.repository.lock(tx, runId);
      if (!run || before === null) throw notFound(`${code}.NOT_FOUND`, `There is no ${label} with id ${runId}.`);
      if (!STOPPABLE.includes(run.status)) {
        throw conflict(
          `${code}.INVALID_STATE`,
          `The ${label} ${runId} is ${run.status}; only a SUBMITTED or RUNNING one can be stopped.`,
          { [`${label}_status`]: run.status },
        );
      }
      const reason = `Stop requested by ${scope.username}`;
      const workflow = await this.stopLocked(tx, run, { reason, userId: scope.userId });
      return answer(run, workflow);
    });
  }

  /** Stops a locked run, whose cluster is locked, too. */
  protected async stopLocked(
    tx: Tx,
    run: Run,
    { reason, userId }: { reason: string; userId: number | null },
  ): Promise<WorkflowRef> {
    const { clusters, scheduler } = this.parts;
    const subject = { kind: 'run' as const, tenantId: run.tenant_id, id: run.run_id };
    const workflow = await startWorkflow(tx, STOP_RUN, subject, userId);
    run.stop_workflow_job_instance_id = workflow.workflow_job_instance_id;
    await this.repository.transition(tx, [run], {
      to: 'STOPPING',
      reason,
      userId,
      columns: { stop_requested: true, stop_workflow_job_instance_id: workflow.workflow_job_instance_id },
    });
    if (run.node_id === null) {
      const ended = 'Stopped before it started.';
      await scheduler.end(tx, run, { to: 'STOPPED', code: 'STOP_REQUESTED', reason: ended, exitCode: null });
    } else {
      await clusters.wake(tx, [run.node_id]);
    }
    return workflow;
  }

  protected row(scope: WorkspaceScope, runId: number, tx?: Tx): Promise<RunDetailRow> {
    return this.repository.get(scope, { id: runId }, tx);
  }

  /** What the submission decides by; throws unless a run may be submitted. */
  private async submission(tx: Tx, scope: WorkspaceScope, given: AskedRun): Promise<Submission> {
    const { selector } = given;
    const { clusters, dependencies, workspaces } = this.parts;
    const { code, label } = this.confs.kind;
    const asked = await this.repository.submission(tx, scope, selector);
    // It says what is wrong.
    if (!asked?.workspace_active) await workspaces.lockActive(tx, scope.workspace.workspaceId);
    if (!asked) throw this.confs.absent(scope, selector);
    if (!asked.active) throw conflict(`${code}.DISABLED`, `The ${label} "${asked.name}" is disabled.`);
    this.assertTakes(asked, given);
    const { cluster_id, cluster_name: name, cluster_status: status, cluster_active: active } = asked;
    if (!asked.cluster_serves) throw notAssociated({ cluster_id, name }, scope.workspace);
    clusters.assertTakesRuns({ name, status, active });
    assertReachable(filesNamed(asked.settings, asked.spark_config), asked.object_storage_manager_id !== null);
    await dependencies.assertStillAllowed(scope, repositoriesNamed(asked.settings, asked.spark_config), tx);
    return asked;
  }

  /** 400 for arguments and conf of a single run where the lookup of job types says that its type takes none. */
  private assertTakes(asked: Submission, given: AskedRun): void {
    const takes = this.parts.referenceData.runtimeSupport(asked.job_type, shownLanguage(asked.language));
    const refused =
      !takes.arguments && given.arguments ? 'arguments' : !takes.conf && given.conf?.length ? 'conf' : undefined;
    if (refused === undefined) return;
    throw invalid(
      `${this.repository.kind.code}.FIELD_REFUSED`,
      `A ${toWire(shownLanguage(asked.language))} ${this.repository.kind.label} takes no ${refused} for a single run. Set them in the configuration.`,
      { field: refused },
    );
  }

  /** The cluster, locked, if the run could get a slot now or must start it; else null. */
  private async lockForRun(tx: Tx, asked: Submission): Promise<LockedCluster | null> {
    if (!asked.has_free_slot && asked.cluster_status !== 'STOPPED') return null;
    const cluster = await this.parts.clusters.lock(tx, asked.cluster_id);
    if (!cluster) throw notFound('CLUSTER.NOT_FOUND', `There is no cluster with id ${asked.cluster_id}.`);
    this.parts.clusters.assertTakesRuns(cluster);
    return cluster;
  }
}

/** The workflow behind a run, as answers show it. */
export function workflowOf(run: RunDetailRow): JobWorkflow {
  return {
    workflow_job_instance_status: {
      workflow_job_instance_id: run.workflow_job_instance_id,
      workflow_job_id: run.workflow_job_id,
      status: run.workflow_state,
      from_date: run.workflow_from,
      to_date: openEnded(run.workflow_to) ?? 'infinity',
    },
  };
}
