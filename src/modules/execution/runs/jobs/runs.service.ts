import { Injectable } from '@nestjs/common';
import type { TenantScope, WorkspaceScope } from '../../../../platform/kernel/auth/principal';
import { notFound } from '../../../../platform/kernel/errors/domain-error';
import { idText, openEnded, readAudit, writeAudit } from '../../../../platform/kernel/dto/answers';
import type { Page } from '../../../../platform/kernel/dto/page';
import { selectorFrom } from '../../../../platform/kernel/dto/selector';
import { toWire } from '../../../../platform/kernel/product/product-name';
import { startWorkflow } from '../../../../platform/background/workflows/workflow-intents';
import { workflowStates } from '../../../../platform/background/workflows/workflow-states';
import type {
  CosiKillAllJobsResult,
  CreateJob,
  JobCreated,
  JobKill,
  JobListQuery,
  JobRead,
  JobSearchQuery,
  JobStats,
  JobStatusHistory,
  JobWorkflowDetails,
} from './dto/job.dto';
import { JobConfsRepository } from './job-confs.repository';
import { shownLanguage } from './job-types';
import { clusterInfo } from './job-confs.service';
import { RunParts, RunsOfKind, workflowOf } from './runs-of-kind';
import type { Run } from './entities/run.entity';
import { type RunDetailRow, RunsRepository } from './runs.repository';
import { STOP_ALL_RUNS } from './run-workflows';

/** Runs of jobs as users see them: submit, watch, read, stop. */
@Injectable()
export class RunsService extends RunsOfKind {
  constructor(parts: RunParts, repository: RunsRepository, jobConfs: JobConfsRepository) {
    super(parts, repository, jobConfs);
  }

  /** Submits a run, which waits in SUBMITTED until a slot is free. */
  async submit(scope: WorkspaceScope, body: CreateJob): Promise<JobCreated> {
    const { arguments: words, conf } = body;
    const selector = selectorFrom(body, 'job_conf');
    return this.submitRun(scope, { selector, arguments: words, conf }, (_tx, run) => created(run));
  }

  /** Asks a run to end. One without a node ends at once; else its agent is told, and reports the end. */
  async stop(scope: WorkspaceScope, jobId: number): Promise<JobKill> {
    return this.stopRun(scope, jobId, (run, workflow) => ({
      SparkKill: {
        ...workflow,
        spark_job_instance_id: run.run_id,
        spark_job_id: run.job_conf_id,
        engine_cluster_instance_id: run.cluster_id,
      },
    }));
  }

  async list(scope: WorkspaceScope, query: JobListQuery | JobSearchQuery, partOfName?: string): Promise<Page<JobRead>> {
    const page = await this.repository.list(scope, query, (conditions) => {
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

  async get(scope: WorkspaceScope, jobId: number): Promise<JobRead> {
    return read(await this.row(scope, jobId));
  }

  async status(scope: WorkspaceScope, jobId: number): Promise<JobStatusHistory> {
    const run = await this.row(scope, jobId);
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

  /** Has a worker stop every run of the cluster that has been submitted. */
  async stopAll(scope: TenantScope, clusterId: number): Promise<CosiKillAllJobsResult> {
    return this.parts.transactions.run(async (tx) => {
      const cluster = await this.parts.clusters.find(tx, scope.tenantId, { id: clusterId });
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
  async workflowDetails(scope: WorkspaceScope, applicationId: string): Promise<JobWorkflowDetails> {
    const run = await this.repository.byApplication(scope, applicationId);
    if (!run) {
      throw notFound(
        'JOB.NOT_FOUND',
        `There is no job with the application id "${applicationId}" in the workspace "${scope.workspace.name}".`,
      );
    }
    const past = await this.parts.transactions.read((tx) => workflowStates(tx, run.workflow_job_instance_id));
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
      spark_job_type: { job_type: toWire(job_type), language: toWire(shownLanguage(language)) },
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
