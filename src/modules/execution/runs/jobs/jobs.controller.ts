import { Body, Controller, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import type { LogStream } from '../../../../../libs/contracts/agent-protocol';
import { LOG_STREAMS } from '../../../../../libs/object-storage/log-store';
import { Allow } from '../../../../platform/kernel/auth/access';
import type { WorkspaceScope } from '../../../../platform/kernel/auth/principal';
import { InWorkspace } from '../../../../platform/http/auth/request-principal';
import { sendLog } from '../../../../platform/http/file-response';
import { Responses, Operation } from '../../../../platform/http/operation';
import { type Page, PageQuery } from '../../../../platform/kernel/dto/page';
import { IdParam, TextParam, WordParam } from '../../../../platform/http/parameters';
import {
  CreateJob,
  JobCreated,
  JobKill,
  JobListQuery,
  JobLogQuery,
  JobRead,
  JobSearchQuery,
  JobStatusHistory,
  JobWorkflowDetails,
  WorkflowErrorRead,
} from './dto/job.dto';
import { JobMetrics } from './dto/job-metrics.dto';
import { RunMetricsService } from './run-metrics.service';
import { JobsService } from './jobs.service';
import { JOB } from './run-kinds';
import { RunsService } from './runs.service';

const tag = 'Jobs';
const base = '/workspace/{workspace_id}/spark';
const view = Allow.workspace('VIEW');

@Controller()
export class JobsController {
  constructor(
    private readonly jobs: JobsService,
    private readonly runs: RunsService,
    private readonly runMetrics: RunMetricsService,
  ) {}

  @Operation({
    method: 'GET',
    path: `${base}/jobs/search`,
    id: 'searchJobs',
    summary: 'Search jobs by part of the name of their configuration',
    tag,
    access: view,
    response: Responses.page(JobRead),
  })
  search(@InWorkspace() scope: WorkspaceScope, @Query() query: JobSearchQuery): Promise<Page<JobRead>> {
    return this.jobs.list(scope, query, query.job_conf_name);
  }

  @Operation({
    method: 'GET',
    path: `${base}/jobs`,
    id: 'listJobs',
    summary: 'List jobs, newest first',
    tag,
    access: view,
    response: Responses.page(JobRead),
  })
  list(@InWorkspace() scope: WorkspaceScope, @Query() query: JobListQuery): Promise<Page<JobRead>> {
    return this.jobs.list(scope, query);
  }

  @Operation({
    method: 'POST',
    path: `${base}/job`,
    id: 'createJob',
    summary: 'Run a job',
    description:
      'The job can use your own secrets: those that its cluster names, and those that open its catalog. Everyone who may edit the file, the configuration or the cluster of the job decides which code can read them.',
    tag,
    access: Allow.workspace('RUN'),
    response: Responses.one(JobCreated),
    errors: [409],
  })
  submit(@InWorkspace() scope: WorkspaceScope, @Body() body: CreateJob): Promise<JobCreated> {
    return this.jobs.submit(scope, body);
  }

  @Operation({
    method: 'POST',
    path: `${base}/job/kill/{job_id}`,
    id: 'killJob',
    summary: 'Stop a job; it is killed if it does not end within its grace period',
    tag,
    access: Allow.workspace('RUN'),
    response: Responses.one(JobKill),
    status: 201,
    errors: [409],
  })
  kill(@InWorkspace() scope: WorkspaceScope, @IdParam('job_id') jobId: number): Promise<JobKill> {
    return this.jobs.stop(scope, jobId);
  }

  @Operation({
    method: 'GET',
    path: `${base}/job/workflow_job_instance_details/{job_application_id}`,
    id: 'getJobWorkflowDetails',
    summary: "Get the workflow of a job by Spark's application id",
    tag,
    access: view,
    response: Responses.one(JobWorkflowDetails),
  })
  workflowDetails(
    @InWorkspace() scope: WorkspaceScope,
    @TextParam('job_application_id') applicationId: string,
  ): Promise<JobWorkflowDetails> {
    return this.jobs.workflowDetails(scope, applicationId);
  }

  @Operation({
    method: 'GET',
    path: `${base}/job/{job_id}`,
    id: 'getJob',
    summary: 'Get a job',
    tag,
    access: view,
    response: Responses.one(JobRead),
  })
  get(@InWorkspace() scope: WorkspaceScope, @IdParam('job_id') jobId: number): Promise<JobRead> {
    return this.jobs.get(scope, jobId);
  }

  @Operation({
    method: 'GET',
    path: `${base}/job/{job_id}/status`,
    id: 'getJobStatus',
    summary: 'Get the status history of a job',
    tag,
    access: view,
    response: Responses.one(JobStatusHistory),
  })
  status(@InWorkspace() scope: WorkspaceScope, @IdParam('job_id') jobId: number): Promise<JobStatusHistory> {
    return this.jobs.status(scope, jobId);
  }

  @Operation({
    method: 'GET',
    path: `${base}/job/{job_id}/log/{log_type}`,
    id: 'getJobLog',
    summary: 'Get a log of a job, while it runs or afterwards',
    description:
      "`events` is the Spark event log of the job's first application, one JSON object per line. Spark's History Server can read it.",
    tag,
    access: view,
    response: Responses.text,
  })
  async log(
    @InWorkspace() scope: WorkspaceScope,
    @IdParam('job_id') jobId: number,
    @WordParam('log_type', LOG_STREAMS.run) logType: string,
    @Query() query: JobLogQuery,
    @Res() response: Response,
  ): Promise<void> {
    await sendLog(response, await this.runs.log({ ...scope, kind: JOB }, jobId, logType as LogStream, query));
  }

  @Operation({
    method: 'GET',
    path: `${base}/job/{job_id}/metrics`,
    id: 'getJobMetrics',
    summary: 'Get metrics of the Spark application of a job, while it runs or afterwards',
    description:
      "An extension of this platform. The metrics are read from the Spark event log of the job's first application. The lists are empty until that application has started, and after the log was removed at the end of its retention.",
    tag,
    access: view,
    response: Responses.one(JobMetrics),
  })
  metrics(@InWorkspace() scope: WorkspaceScope, @IdParam('job_id') jobId: number): Promise<JobMetrics> {
    return this.runMetrics.metrics(scope, jobId);
  }

  @Operation({
    method: 'GET',
    path: `${base}/job/{job_id}/workflow/errors`,
    id: 'listJobWorkflowErrors',
    summary: 'List the errors of the workflow of a job',
    tag,
    access: view,
    response: Responses.page(WorkflowErrorRead),
  })
  errors(
    @InWorkspace() scope: WorkspaceScope,
    @IdParam('job_id') jobId: number,
    @Query() page: PageQuery,
  ): Promise<Page<WorkflowErrorRead>> {
    return this.runs.workflowErrors({ ...scope, kind: JOB }, jobId, page);
  }
}
