import { Injectable } from '@nestjs/common';
import type { TenantScope, WorkspaceScope } from '../../../../platform/kernel/auth/principal';
import { notFound } from '../../../../platform/kernel/errors/domain-error';
import { idText, openEnded, readAudit, writeAudit } from '../../../../platform/kernel/dto/response-fields';
import type { Page } from '../../../../platform/kernel/dto/page';
import { selectorFrom } from '../../../../platform/kernel/dto/selector';
import { Transactions } from '../../../../platform/kernel/persistence/transactions';
import { toWire } from '../../../../platform/kernel/product/product-name';
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
import { shownLanguage } from './job-types';
import { JOB } from './run-kinds';
import { remedyOf } from './reason-codes';
import { isFinished, type RunStatus } from './run-state';
import { clusterInfo } from './job-confs.service';
import { RunsService, workflowOf, workflowRef } from './runs.service';
import type { Run } from './entities/run.entity';
import { type RunDetailRow, RunsRepository } from './runs.repository';

@Injectable()
export class JobsService {
  constructor(
    private readonly transactions: Transactions,
    private readonly runs: RunsService,
    private readonly repository: RunsRepository,
  ) {}

  /** Submits a job, which waits in SUBMITTED until a slot is free. */
  async submit(scope: WorkspaceScope, body: CreateJob): Promise<JobCreated> {
    const { arguments: runArguments, conf } = body;
    const configuration = selectorFrom(body, 'job_conf');
    return this.transactions.run(async (tx) =>
      toCreated(await this.runs.submit(tx, { ...scope, kind: JOB }, { configuration, arguments: runArguments, conf })),
    );
  }

  stop(scope: WorkspaceScope, jobId: number): Promise<JobKill> {
    return this.transactions.run(async (tx) => {
      const run = await this.runs.stop(tx, { ...scope, kind: JOB }, jobId);
      return {
        SparkKill: {
          ...workflowRef(run),
          spark_job_instance_id: run.run_id,
          spark_job_id: run.job_conf_id,
          engine_cluster_instance_id: run.cluster_id,
        },
      };
    });
  }

  async list(scope: WorkspaceScope, query: JobListQuery | JobSearchQuery, partOfName?: string): Promise<Page<JobRead>> {
    const page = await this.runs.list({ ...scope, kind: JOB }, query, {
      clusterIds: mergeIds(query.cluster_ids, query.cluster_id),
      configurationIds: mergeIds(query.job_conf_ids, query.job_conf_id),
      statuses: query.job_status,
      createdByIds: query.created_by_ids,
      modifiedByIds: query.modified_by_ids,
      ...(partOfName === undefined ? { name: query.job_conf_name } : { partOfName }),
      jobTypes: query.job_type,
      languages: query.job_type_langs,
    });
    return { ...page, data: page.data.map(toRead) };
  }

  async get(scope: WorkspaceScope, jobId: number): Promise<JobRead> {
    return toRead(await this.runs.get({ ...scope, kind: JOB }, jobId));
  }

  async status(scope: WorkspaceScope, jobId: number): Promise<JobStatusHistory> {
    const run = await this.runs.get({ ...scope, kind: JOB }, jobId);
    const history = await this.repository.history(run.run_id);
    return {
      job_id: run.run_id,
      job_application_id: run.application_id,
      job_status: run.status,
      status_history: history.map((entry) => ({
        job_status: entry.status,
        reason: entry.reason,
        created_by: entry.username,
        step: entry.step,
        remedy: isFinished(entry.status as RunStatus) ? remedyOf(run.reason_code) : null,
        from_date: entry.start_time,
        to_date: openEnded(entry.end_time) ?? 'infinity',
      })),
    };
  }

  /** Starts the workflow that stops all submitted runs of the cluster. */
  stopAll(scope: TenantScope, clusterId: number): Promise<CosiKillAllJobsResult> {
    return this.transactions.run(async (tx) => ({
      CosiKillAllJobsByCluster: {
        ...(await this.runs.stopAll(tx, scope, clusterId)),
        engine_cluster_instance_id: clusterId,
        created_by_user_id: scope.userId,
      },
    }));
  }

  /** Returns the workflow of the newest run with this application id. */
  async workflowDetails(scope: WorkspaceScope, applicationId: string): Promise<JobWorkflowDetails> {
    const run = await this.repository.byApplication({ ...scope, kind: JOB }, applicationId);
    if (!run) {
      throw notFound(
        'JOB.NOT_FOUND',
        `There is no job with the application id "${applicationId}" in the workspace "${scope.workspace.name}".`,
      );
    }
    const { workflow_job_instance_status: status } = workflowOf(run);
    return {
      job_id: run.run_id,
      job_application_id: applicationId,
      job_status: run.status,
      cluster_id: run.cluster_id,
      workflow_job_instance_details: {
        workflow_job_instance_status: { ...status, previous_status: isFinished(run.status) ? ['EXECUTING'] : [] },
      },
      tenant_id: run.tenant_id,
      ...readAudit(run),
    };
  }

  async stats(scope: TenantScope, column: 'cluster_id' | 'workspace_id', id: number): Promise<JobStats> {
    const counts = await this.repository.countByStatus(scope.tenantId, column, id);
    const count = (status: string) => counts.get(status) ?? 0;
    return {
      SUBMITTED: count('SUBMITTED'),
      RUNNING: count('RUNNING'),
      DONE: count('DONE'),
      ERROR: count('ERROR'),
      TERMINATED: count('TERMINATED'),
      STOPPING: count('STOPPING'),
      STOPPED: count('STOPPED'),
      TOTAL_JOB_COUNT: [...counts.values()].reduce((sum, runs) => sum + runs, 0),
    };
  }
}

/** Merges two parameters with the same meaning; returns undefined if both are absent. */
function mergeIds(ids: number[] = [], id?: number): number[] | undefined {
  const all = id === undefined ? ids : [...ids, id];
  return all.length === 0 ? undefined : all;
}

function toCreated(run: Run): JobCreated {
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

function toRead(run: RunDetailRow): JobRead {
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
    started_warm: run.started_warm,
    cold_reason: run.cold_reason,
    workflow_job_instance_details: workflowOf(run),
    tenant_id: run.tenant_id,
    ...readAudit(run),
  };
}
