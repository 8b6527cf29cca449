import { Injectable } from '@nestjs/common';
import type { LogStream } from '../../../../../libs/contracts/agent-protocol';
import type { TenantScope } from '../../../../platform/kernel/auth/principal';
import { correlationId } from '../../../../platform/kernel/context/request-context';
import { conflict, invalid, notFound } from '../../../../platform/kernel/errors/domain-error';
import type { ByteRange, LogSlice } from '../../../../platform/kernel/files/content';
import { type Page, pageOf, type PageRequest } from '../../../../platform/kernel/dto/page';
import type { RecordSelector } from '../../../../platform/kernel/dto/selector';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { Transactions } from '../../../../platform/kernel/persistence/transactions';
import { toWire } from '../../../../platform/kernel/product/product-name';
import { startWorkflow, type WorkflowRef } from '../../../../platform/background/workflows/workflow-intents';
import { checkConf, ClusterSlotsService, GIVES_SLOTS, type LockedCluster } from '../../clusters';
import { DependencyRepositoriesService, LogsService } from '../../../infrastructure/storage';
import { ReferenceData } from '../../../foundation/reference-data';
import { notAssociated, WorkspacesService } from '../../workspaces';
import type { JobLogQuery, JobWorkflow, LogSearchQuery, LogSearchResult, WorkflowErrorRead } from './dto/job.dto';
import type { Run } from './entities/run.entity';
import { assertReachable } from './file-reference';
import { shownLanguage } from './job-types';
import { RunConfigurationsRepository } from './run-configurations.repository';
import type { KindScope, ServingKind } from './run-kinds';
import { RunScheduler } from './run-scheduler.service';
import { filesNamed, repositoriesNamed } from './run-spec';
import { isFinished, type RunStatus, STOPPABLE } from './run-state';
import { STOP_ALL_RUNS } from './run-workflows';
import { type RunDetailRow, type RunFilters, RunsRepository, type Submission } from './runs.repository';
import { splitArguments } from './split-arguments';

export interface RunRequest {
  configuration: RecordSelector;
  arguments?: string | null | undefined;
  conf?: string[] | null | undefined;
}

/** Runs of all kinds. Changes join the transaction of the caller, because it also builds the response. */
@Injectable()
export class RunsService {
  constructor(
    private readonly transactions: Transactions,
    private readonly repository: RunsRepository,
    private readonly configurations: RunConfigurationsRepository,
    private readonly scheduler: RunScheduler,
    private readonly clusters: ClusterSlotsService,
    private readonly workspaces: WorkspacesService,
    private readonly logs: LogsService,
    private readonly referenceData: ReferenceData,
    private readonly dependencies: DependencyRepositoriesService,
  ) {}

  get(scope: KindScope, runId: number, tx?: Tx): Promise<RunDetailRow> {
    return this.repository.get(scope, { id: runId }, tx);
  }

  /** Finds a run by id alone. The caller has checked its scope. */
  find(runId: number): Promise<Run | null> {
    return this.repository.byId(runId);
  }

  /** Locks the cluster and the run, as {@link stopLocked} requires. */
  lock(tx: Tx, runId: number): Promise<Run | null> {
    return this.repository.lockWithCluster(tx, runId);
  }

  list(scope: KindScope, page: PageRequest, filters: RunFilters): Promise<Page<RunDetailRow>> {
    return this.repository.page(scope, page, filters);
  }

  /** Returns the run, whatever its status; throws a 400 if it is not of the kind that callers ask for. */
  async serving(scope: KindScope & { kind: ServingKind }, runId: number): Promise<RunDetailRow> {
    const run = await this.get(scope, runId);
    const { jobType, service } = scope.kind;
    if (run.job_conf_snapshot.job_type === jobType) return run;
    throw invalid(service.absentCode, `The job ${runId} does not serve ${service.name}.`);
  }

  /** Returns the run; also throws a 409 if it is not RUNNING. */
  async callable(scope: KindScope & { kind: ServingKind }, runId: number): Promise<RunDetailRow> {
    const run = await this.serving(scope, runId);
    const { notRunningCode, notRunning } = scope.kind.service;
    if (run.status === 'RUNNING') return run;
    throw conflict(notRunningCode, `The job ${runId} is ${run.status}; ${notRunning}.`, { job_status: run.status });
  }

  /**
   * Submits a run. If there is a free slot, the run is assigned within `tx`; a stopped cluster is started; else the run waits in
   * SUBMITTED. Only assigning a slot and starting the cluster need the cluster's lock.
   */
  async submit(tx: Tx, scope: KindScope, request: RunRequest): Promise<Run> {
    splitArguments(request.arguments ?? '');
    checkConf(scope.kind.run.code, request.conf);
    const submission = await this.submission(tx, scope, request);
    const cluster = await this.lockForRun(tx, submission);
    if (submission.max_concurrency > 0) await this.configurations.countOneMore(tx, scope.kind, submission);
    const { job_conf_id, name, job_type, language, settings } = submission;
    const run = await this.repository.submit(tx, {
      run_id: submission.run_id,
      workflow_job_instance_id: submission.workflow_job_instance_id,
      tenant_id: scope.tenantId,
      workspace_id: scope.workspace.workspaceId,
      kind: scope.kind.resource,
      job_conf_id,
      cluster_id: submission.cluster_id,
      created_by_user_id: scope.userId,
      status: 'SUBMITTED',
      job_conf_snapshot: { job_conf_id, name, job_type, language, settings },
      arguments: request.arguments ?? null,
      conf: request.conf ?? null,
      correlation_id: correlationId(),
    });
    if (cluster?.status === 'STOPPED') await this.clusters.startForRun(tx, cluster, scope.userId, run.run_id);
    else if (cluster) await this.scheduler.assignWaiting(tx, cluster);
    else await this.enqueueForSlot(tx, submission);
    return run;
  }

  /** Requests a run to stop. A run without a node ends at once; else its agent is notified and reports the end. */
  async stop(tx: Tx, scope: KindScope, runId: number): Promise<Run> {
    const { code, label } = scope.kind.run;
    await this.get(scope, runId, tx);
    const run = await this.repository.lockWithCluster(tx, runId);
    if (!run) throw notFound(`${code}.NOT_FOUND`, `There is no ${label} with id ${runId}.`);
    if (!STOPPABLE.includes(run.status)) {
      throw conflict(
        `${code}.INVALID_STATE`,
        `The ${label} ${runId} is ${run.status}; only a SUBMITTED or RUNNING one can be stopped.`,
        { [`${label}_status`]: run.status },
      );
    }
    const reason = `Stop requested by ${scope.username}`;
    await this.stopLocked(tx, run, { reason, userId: scope.userId });
    return run;
  }

  /** Stops a run. The caller has locked its cluster and the run. */
  async stopLocked(tx: Tx, run: Run, { reason, userId }: { reason: string; userId: number | null }): Promise<void> {
    await this.repository.transition(tx, [run], {
      to: 'STOPPING',
      reason,
      userId,
      step: 'stop',
      columns: { stop_requested: true },
    });
    if (run.node_id === null) {
      const ended = 'Stopped before it started.';
      const code = 'STOP_REQUESTED';
      await this.scheduler.end(tx, run, { to: 'STOPPED', code, reason: ended, exitCode: null, step: 'stop' });
    } else {
      await this.clusters.wake(tx, [run.node_id]);
    }
  }

  /** Makes a run RUNNING after its process has reported that it accepts calls. */
  async markReady(tx: Tx, runId: number, reason: string): Promise<void> {
    const run = await this.repository.lock(tx, runId);
    if (run?.status === 'SUBMITTED')
      await this.repository.transition(tx, [run], { to: 'RUNNING', reason, userId: null, step: 'ready' });
  }

  /** Starts the workflow that stops all submitted runs of the cluster. */
  async stopAll(tx: Tx, scope: TenantScope, clusterId: number): Promise<WorkflowRef> {
    const cluster = await this.clusters.find(tx, scope.tenantId, { id: clusterId });
    if (!cluster) throw notFound('CLUSTER.NOT_FOUND', `There is no cluster with id ${clusterId}.`);
    const subject = { kind: 'cluster' as const, tenantId: scope.tenantId, id: clusterId };
    return startWorkflow(tx, STOP_ALL_RUNS, subject, scope.userId);
  }

  /** @param range finds the part of the log that the request names; it is ignored if the query names one */
  async log(
    scope: KindScope,
    runId: number,
    { stream, range, ...query }: JobLogQuery & { stream: LogStream; range?: (size: number) => ByteRange | null },
  ): Promise<LogSlice> {
    const run = await this.get(scope, runId);
    const log = { kind: 'run' as const, id: run.run_id, stream };
    const { last_n_lines: lastLines, file_size_bytes: firstBytes, offset } = query;
    if (!query.follow) return this.logs.open(log, { lastLines, firstBytes, offset, range });
    if (firstBytes !== undefined) {
      throw invalid(
        `${scope.kind.run.code}.LOG_PART`,
        'file_size_bytes and follow cannot be combined. Omit one of them.',
      );
    }
    return this.logs.follow(log, { lastLines, offset }, () => this.repository.hasEnded(run.run_id));
  }

  async searchLog(
    scope: KindScope,
    runId: number,
    { stream, signal, ...query }: LogSearchQuery & { stream: LogStream; signal: AbortSignal },
  ): Promise<LogSearchResult> {
    const run = await this.get(scope, runId);
    const log = { kind: 'run' as const, id: run.run_id, stream };
    const { text, direction = 'forward', offset: from = null, limit } = query;
    const { matches, next, size } = await this.logs.search(
      scope.tenantId,
      log,
      { text, direction, from, limit },
      signal,
    );
    return { matches, next_offset: next, size_bytes: size };
  }

  async workflowErrors(scope: KindScope, runId: number, page: PageRequest): Promise<Page<WorkflowErrorRead>> {
    const run = await this.get(scope, runId);
    const errors = errorsOf(run);
    return pageOf(page.pageNumber === 1 ? errors : [], errors.length, page);
  }

  /** Requests more nodes if the cluster may scale up, and looks for a slot again after the commit, when others see the run. */
  private async enqueueForSlot(tx: Tx, { cluster_id, cluster_status, may_grow }: Submission): Promise<void> {
    this.transactions.afterCommit(tx, () => void this.scheduler.reschedule(cluster_id));
    if (may_grow && GIVES_SLOTS.includes(cluster_status)) await this.clusters.requestScaling(tx, cluster_id);
  }

  /** Reads what the submission depends on; throws if the run may not be submitted. */
  private async submission(tx: Tx, scope: KindScope, request: RunRequest): Promise<Submission> {
    const { code, label } = scope.kind.configuration;
    const submission = await this.repository.submission(tx, scope, request.configuration);
    // Throws the error for an inactive workspace.
    if (!submission?.workspace_active) await this.workspaces.lockActive(tx, scope.workspace.workspaceId);
    if (!submission) throw this.configurations.absent(scope, request.configuration);
    const { name, settings, spark_config, cluster_id, cluster_name } = submission;
    if (!submission.active) throw conflict(`${code}.DISABLED`, `The ${label} "${name}" is disabled. Enable it first.`);
    this.assertOverridesAllowed(scope, submission, request);
    if (!submission.cluster_serves) throw notAssociated({ cluster_id, name: cluster_name }, scope.workspace);
    const { cluster_status: status, cluster_active: active } = submission;
    this.clusters.assertTakesRuns({ name: cluster_name, status, active });
    assertReachable(filesNamed(settings, spark_config), submission.object_storage_manager_id !== null);
    await this.dependencies.assertStillAllowed(scope, repositoriesNamed(settings, spark_config), tx);
    return submission;
  }

  /** Throws a 400 for arguments or conf of a single run if its job type does not support them (lookup of job types). */
  private assertOverridesAllowed({ kind }: KindScope, { job_type, language }: Submission, request: RunRequest): void {
    const supports = this.referenceData.runtimeSupport(job_type, shownLanguage(language));
    const refused =
      !supports.arguments && request.arguments
        ? 'arguments'
        : !supports.conf && request.conf?.length
          ? 'conf'
          : undefined;
    if (refused === undefined) return;
    throw invalid(
      `${kind.run.code}.FIELD_REFUSED`,
      `A ${toWire(shownLanguage(language))} ${kind.run.label} accepts no ${refused} for a single run. Set them in the configuration.`,
      { field: refused },
    );
  }

  /** Locks and returns the cluster if it may have a free slot or must be started; else returns null. */
  private async lockForRun(tx: Tx, submission: Submission): Promise<LockedCluster | null> {
    if (!submission.has_free_slot && submission.cluster_status !== 'STOPPED') return null;
    const cluster = await this.clusters.lock(tx, submission.cluster_id);
    if (!cluster) throw notFound('CLUSTER.NOT_FOUND', `There is no cluster with id ${submission.cluster_id}.`);
    this.clusters.assertTakesRuns(cluster);
    return cluster;
  }
}

/** The workflow of a run exists only in responses: it has an id, and its state is derived from the run. */
export function workflowRef({ workflow_job_instance_id }: Run): WorkflowRef {
  return { workflow_job_id: workflow_job_instance_id, workflow_job_instance_id };
}

export function workflowOf(run: Run): JobWorkflow {
  return {
    workflow_job_instance_status: {
      ...workflowRef(run),
      status: workflowState(run.status),
      from_date: run.from_date,
      to_date: run.ended_at ?? 'infinity',
    },
  };
}

/** A run that was stopped on request is TERMINATED, which is not an error. */
function workflowState(status: RunStatus): 'EXECUTING' | 'DONE' | 'ERROR' | 'TERMINATED' {
  if (!isFinished(status)) return 'EXECUTING';
  return status === 'DONE' || status === 'ERROR' ? status : 'TERMINATED';
}

function errorsOf(run: Run): WorkflowErrorRead[] {
  const { workflow_job_instance_id: id, ended_at, reason, status } = run;
  if (ended_at === null || reason === null || (status !== 'ERROR' && status !== 'TERMINATED')) return [];
  return [
    { workflow_error_id: id, workflow_job_instance_id: id, error: reason, from_date: ended_at, to_date: 'infinity' },
  ];
}
