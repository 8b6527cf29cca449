import { Injectable } from '@nestjs/common';
import type { LogStream } from '../../../libs/contracts/agent-protocol';
import type { TenantScope, WorkspaceContext } from '../../platform/auth/principal';
import { correlationId } from '../../platform/context/request-context';
import { conflict, notFound } from '../../platform/errors/domain-error';
import type { LogSlice } from '../../platform/files/content';
import { idText, openEnded, readAudit, writeAudit } from '../../platform/http/answers';
import type { Page } from '../../platform/http/page';
import { selectorFrom } from '../../platform/http/selector';
import type { Tx } from '../../platform/persistence/sql';
import { Transactions } from '../../platform/persistence/transactions';
import { toWire } from '../../platform/product/product-name';
import { startWorkflow } from '../../platform/workflows/workflow-intents';
import { workflowStates } from '../../platform/workflows/workflow-states';
import { workflowErrors } from '../../platform/workflows/workflow-errors';
import { ClusterSlotsService } from '../clusters/cluster-slots.service';
import type { LockedCluster } from '../clusters/clusters.contract';
import { checkConf } from '../clusters/spark-conf.contract';
import { DependencyRepositoriesService } from '../dependency-repositories/dependency-repositories.service';
import { LogsService } from '../logs/logs.service';
import { ReferenceData } from '../reference-data/reference-data.contract';
import { notAssociated } from '../workspaces/cluster-workspaces.service';
import { WorkspacesService } from '../workspaces/workspaces.service';
import type {
  CosiKillAllJobsResult,
  CreateJob,
  JobCreated,
  JobKill,
  JobListQuery,
  JobLogQuery,
  JobRead,
  JobSearchQuery,
  JobStats,
  JobStatusHistory,
  JobWorkflow,
  JobWorkflowDetails,
  WorkflowErrorRead,
} from './dto/job.dto';
import { invalid } from '../../platform/errors/domain-error';
import { inWorkspace, type WorkspaceScope } from '../../platform/resources/workspace-resource-repository';
import { assertReachable } from './file-reference';
import { clusterInfo, JobConfsService } from './job-confs.service';
import { filesNamed, repositoriesNamed } from './run-spec';
import type { Run } from './entities/run.entity';
import { RunScheduler } from './run-scheduler.service';
import { STOPPABLE } from './run-state';
import { type RunDetailRow, RunsRepository, type Submission } from './runs.repository';
import { STOP_ALL_RUNS, STOP_RUN } from './run-workflows';
import { splitArguments } from './split-arguments';

/** Runs of jobs as users see them: submit, watch, read, stop. */
@Injectable()
export class RunsService {
  constructor(
    private readonly transactions: Transactions,
    private readonly repository: RunsRepository,
    private readonly jobConfs: JobConfsService,
    private readonly scheduler: RunScheduler,
    private readonly clusters: ClusterSlotsService,
    private readonly workspaces: WorkspacesService,
    private readonly logs: LogsService,
    private readonly referenceData: ReferenceData,
    private readonly dependencies: DependencyRepositoriesService,
  ) {}

  /**
   * Submits a run. With a free slot it has its node when this commits; a stopped cluster is started; else it waits in
   * SUBMITTED. Only the gift of a slot and the start need the cluster's lock.
   */
  async submit(scope: TenantScope, workspace: WorkspaceContext, body: CreateJob): Promise<JobCreated> {
    splitArguments(body.arguments ?? '');
    checkConf('JOB', body.conf);
    let waitsFor: number | null = null;
    const answer = await this.transactions.run(async (tx) => {
      const asked = await this.submission(tx, inWorkspace(scope, workspace), body);
      const cluster = await this.lockForRun(tx, asked);
      if (asked.max_concurrency > 0) await this.jobConfs.countOneMore(tx, asked);
      const { job_conf_id, name, job_type, language, settings } = asked;
      const run = await this.repository.submit(tx, {
        run_id: asked.run_id,
        tenant_id: scope.tenantId,
        workspace_id: workspace.workspaceId,
        job_conf_id,
        cluster_id: asked.cluster_id,
        created_by_user_id: scope.userId,
        status: 'SUBMITTED',
        job_conf_snapshot: { job_conf_id, name, job_type, language, settings },
        arguments: body.arguments ?? null,
        conf: body.conf ?? null,
        correlation_id: correlationId(),
      });
      if (cluster?.status === 'STOPPED') await this.clusters.startFor(tx, cluster, scope.userId, run.run_id);
      else if (cluster) await this.scheduler.assignWaiting(tx, cluster);
      waitsFor = cluster ? null : asked.cluster_id;
      return created(run);
    });
    if (waitsFor !== null) void this.scheduler.lookAgain(waitsFor);
    return answer;
  }

  async list(
    scope: TenantScope,
    workspace: WorkspaceContext,
    query: JobListQuery | JobSearchQuery,
    partOfName?: string,
  ): Promise<Page<JobRead>> {
    const page = await this.repository.list(inWorkspace(scope, workspace), query, (conditions) => {
      const clusterIds = [...(query.cluster_ids ?? []), ...(query.cluster_id === undefined ? [] : [query.cluster_id])];
      if (clusterIds.length > 0) conditions.only('cluster_id', clusterIds);
      const confIds = [...(query.job_conf_ids ?? []), ...(query.job_conf_id === undefined ? [] : [query.job_conf_id])];
      if (confIds.length > 0) conditions.only('job_conf_id', confIds);
      conditions
        .only('status', query.job_status)
        .only('created_by_user_id', query.created_by_ids)
        .only('modified_by_user_id', query.modified_by_ids);
      this.repository.submittedAs({
        ...(partOfName === undefined ? { name: query.job_conf_name } : { partOfName }),
        jobTypes: query.job_type,
        languages: query.job_type_langs,
      })(conditions);
    });
    return { ...page, data: page.data.map(read) };
  }

  async get(scope: TenantScope, workspace: WorkspaceContext, jobId: number): Promise<JobRead> {
    return read(await this.row(scope, workspace, jobId));
  }

  async status(scope: TenantScope, workspace: WorkspaceContext, jobId: number): Promise<JobStatusHistory> {
    const run = await this.row(scope, workspace, jobId);
    const history = await this.repository.history(run.run_id);
    return {
      job_id: run.run_id,
      job_application_id: run.application_id,
      job_status: run.status,
      status_history: history.map((entry) => ({
        job_status: entry.status,
        reason: entry.reason,
        from_date: entry.start_time,
        to_date: openEnded(entry.end_time) ?? 'infinity',
      })),
    };
  }

  async log(
    scope: TenantScope,
    workspace: WorkspaceContext,
    jobId: number,
    stream: LogStream,
    query: JobLogQuery,
  ): Promise<LogSlice> {
    const run = await this.row(scope, workspace, jobId);
    const log = { kind: 'run' as const, id: run.run_id, stream };
    const { last_n_lines: lastLines, file_size_bytes: firstBytes, offset } = query;
    if (!query.follow) return this.logs.open(log, { lastLines, firstBytes, offset });
    if (firstBytes !== undefined) {
      throw invalid(
        'JOB.LOG_PART',
        'The first bytes of a log cannot be followed. Leave out file_size_bytes or follow.',
      );
    }
    return this.logs.follow(log, { lastLines, offset }, () => this.repository.hasEnded(run.run_id));
  }

  /** Asks a run to end. One without a node ends at once; else its agent is told, and reports the end. */
  async stop(scope: TenantScope, workspace: WorkspaceContext, jobId: number): Promise<JobKill> {
    return this.transactions.run(async (tx) => {
      await this.row(scope, workspace, jobId, tx);
      // The cluster is locked first, as for every gift of a slot: otherwise the run could get a node meanwhile.
      const before = await this.repository.lockCluster(tx, jobId);
      const run = await this.repository.lock(tx, jobId);
      if (!run || before === null) throw notFound('JOB.NOT_FOUND', `There is no job with id ${jobId}.`);
      if (!STOPPABLE.includes(run.status)) {
        throw conflict(
          'JOB.INVALID_STATE',
          `The job ${jobId} is ${run.status}; only a SUBMITTED or RUNNING one can be stopped.`,
          {
            job_status: run.status,
          },
        );
      }
      const subject = { kind: 'run' as const, tenantId: scope.tenantId, id: run.run_id };
      const workflow = await startWorkflow(tx, STOP_RUN, subject, scope.userId);
      run.stop_workflow_job_instance_id = workflow.workflow_job_instance_id;
      await this.repository.transition(tx, [run], {
        to: 'STOPPING',
        reason: `Stop requested by ${scope.username}`,
        userId: scope.userId,
        columns: { stop_requested: true, stop_workflow_job_instance_id: workflow.workflow_job_instance_id },
      });
      if (run.node_id === null) {
        const reason = 'Stopped before it started.';
        await this.scheduler.end(tx, run, { to: 'STOPPED', code: 'STOP_REQUESTED', reason, exitCode: null });
      } else {
        await this.clusters.wake(tx, [run.node_id]);
      }
      return {
        SparkKill: {
          ...workflow,
          spark_job_instance_id: run.run_id,
          spark_job_id: run.job_conf_id,
          engine_cluster_instance_id: run.cluster_id,
        },
      };
    });
  }

  /** Has a worker stop every run of the cluster that has been submitted. */
  async stopAll(scope: TenantScope, clusterId: number): Promise<CosiKillAllJobsResult> {
    return this.transactions.run(async (tx) => {
      const cluster = await this.clusters.find(tx, scope.tenantId, { id: clusterId });
      if (!cluster) throw notFound('CLUSTER.NOT_FOUND', `There is no cluster with id ${clusterId}.`);
      const subject = { kind: 'cluster' as const, tenantId: scope.tenantId, id: cluster.cluster_id };
      const workflow = await startWorkflow(tx, STOP_ALL_RUNS, subject, scope.userId);
      return {
        CosiKillAllJobsByCluster: {
          ...workflow,
          engine_cluster_instance_id: cluster.cluster_id,
          created_by_user_id: scope.userId,
        },
      };
    });
  }

  /** The newest run of the workspace that Spark knew by this id, and what has become of its workflow. */
  async workflowDetails(
    scope: TenantScope,
    workspace: WorkspaceContext,
    applicationId: string,
  ): Promise<JobWorkflowDetails> {
    const run = await this.repository.byApplication(inWorkspace(scope, workspace), applicationId);
    if (!run) {
      throw notFound(
        'JOB.NOT_FOUND',
        `There is no job with the application id "${applicationId}" in the workspace "${workspace.name}".`,
      );
    }
    const past = await this.transactions.read((tx) => workflowStates(tx, run.workflow_job_instance_id));
    const { workflow_job_instance_status: status } = workflowOf(run);
    return {
      job_id: run.run_id,
      job_application_id: applicationId,
      job_status: run.status,
      cluster_id: run.cluster_id,
      workflow_job_instance_details: {
        workflow_job_instance_status: { ...status, previous_status: past.slice(0, -1) },
      },
      tenant_id: run.tenant_id,
      ...readAudit(run),
    };
  }

  async stats(scope: TenantScope, column: 'cluster_id' | 'workspace_id', id: number): Promise<JobStats> {
    const counts = await this.repository.countByStatus(scope.tenantId, column, id);
    const of = (status: string) => counts.get(status) ?? 0;
    return {
      SUBMITTED: of('SUBMITTED'),
      RUNNING: of('RUNNING'),
      DONE: of('DONE'),
      ERROR: of('ERROR'),
      TERMINATED: of('TERMINATED'),
      STOPPING: of('STOPPING'),
      STOPPED: of('STOPPED'),
      TOTAL_JOB_COUNT: [...counts.values()].reduce((sum, count) => sum + count, 0),
    };
  }

  async errors(
    scope: TenantScope,
    workspace: WorkspaceContext,
    jobId: number,
    page: { limit: number; pageNumber: number },
  ): Promise<Page<WorkflowErrorRead>> {
    const run = await this.row(scope, workspace, jobId);
    const instances = [run.workflow_job_instance_id, run.stop_workflow_job_instance_id].filter((id) => id !== null);
    return this.transactions.read((tx) => workflowErrors(tx, instances, page));
  }

  private row(scope: TenantScope, workspace: WorkspaceContext, jobId: number, tx?: Tx): Promise<RunDetailRow> {
    return this.repository.get(inWorkspace(scope, workspace), { id: jobId }, tx);
  }

  /** What the submission decides by; throws unless a run may be submitted. */
  private async submission(tx: Tx, place: WorkspaceScope, body: CreateJob): Promise<Submission> {
    const selector = selectorFrom(body, 'job_conf');
    const asked = await this.repository.submission(tx, place, selector);
    // It says what is wrong.
    if (!asked?.workspace_active) await this.workspaces.lockActive(tx, place.workspace.workspaceId);
    if (!asked) throw this.jobConfs.absent(place, selector);
    if (!asked.active) throw conflict('JOB_CONF.DISABLED', `The job configuration "${asked.name}" is disabled.`);
    this.assertTakes(asked, body);
    const { cluster_id, cluster_name: name, cluster_status: status, cluster_active: active } = asked;
    if (!asked.cluster_serves) throw notAssociated({ cluster_id, name }, place.workspace);
    this.clusters.assertTakesRuns({ name, status, active });
    assertReachable(filesNamed(asked.settings, asked.spark_config), asked.object_storage_manager_id !== null);
    await this.dependencies.assertStillAllowed(place, repositoriesNamed(asked.settings, asked.spark_config), tx);
    return asked;
  }

  /** 400 for arguments and conf of a single run where the lookup of job types says that its type takes none. */
  private assertTakes(asked: Submission, body: CreateJob): void {
    const takes = this.referenceData.runtimeSupport(asked.job_type, asked.language);
    const refused =
      !takes.arguments && body.arguments ? 'arguments' : !takes.conf && body.conf?.length ? 'conf' : undefined;
    if (refused === undefined) return;
    throw invalid(
      'JOB.FIELD_REFUSED',
      `A ${toWire(asked.language)} job takes no ${refused} for a single run. Set them in the job configuration.`,
      { field: refused },
    );
  }

  /** The cluster, locked, if the run could get a slot now or must start it; else null. */
  private async lockForRun(tx: Tx, asked: Submission): Promise<LockedCluster | null> {
    if (!asked.has_free_slot && asked.cluster_status !== 'STOPPED') return null;
    const cluster = await this.clusters.lock(tx, asked.cluster_id);
    if (!cluster) throw notFound('CLUSTER.NOT_FOUND', `There is no cluster with id ${asked.cluster_id}.`);
    this.clusters.assertTakesRuns(cluster);
    return cluster;
  }
}

function created(run: Run): JobCreated {
  return {
    job_id: idText(run.run_id),
    job_conf_id: idText(run.job_conf_id),
    cluster_id: idText(run.cluster_id),
    workspace_id: idText(run.workspace_id),
    job_status: 'SUBMITTED',
    arguments: run.arguments,
    conf: run.conf,
    tenant_id: run.tenant_id,
    ...writeAudit(run),
  };
}

function read(run: RunDetailRow): JobRead {
  const { job_conf_id, name, job_type, language, settings } = run.job_conf_snapshot;
  const { extra_info: _extra, job_timeout_min: _timeout, ...shown } = settings;
  const visible = Object.fromEntries(Object.entries(shown).filter(([key]) => !key.startsWith('platform_functions_')));
  return {
    job_id: run.run_id,
    job_application_id: run.application_id,
    job_status: run.status,
    cluster_id: run.cluster_id,
    cluster_info: clusterInfo(run),
    workspace_id: run.workspace_id,
    job_conf: {
      job_conf_id,
      name,
      spark_job_type: { job_type: toWire(job_type), language: toWire(language) },
      ...(visible as Omit<JobRead['job_conf'], 'job_conf_id' | 'name' | 'spark_job_type'>),
    },
    arguments: run.arguments,
    conf: run.conf,
    exit_code: run.exit_code,
    reason_code: run.reason_code,
    reason: run.reason,
    workflow_job_instance_details: workflowOf(run),
    tenant_id: run.tenant_id,
    ...readAudit(run),
  };
}

function workflowOf(run: RunDetailRow): JobWorkflow {
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
