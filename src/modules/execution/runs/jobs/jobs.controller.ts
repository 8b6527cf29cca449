import { nameEnum } from '../../../../platform/kernel/dto/named-enums';
import { Body, Controller, Headers, Query, Res } from '@nestjs/common';
import type { IncomingHttpHeaders } from 'node:http';
import type { Response } from 'express';
import type { LogStream } from '../../../../../libs/contracts/agent-protocol';
import { LOG_STREAMS } from '../../../../../libs/object-storage/log-store';
import { Allow } from '../../../../platform/kernel/auth/access';
import type { WorkspaceScope } from '../../../../platform/kernel/auth/principal';
import { InWorkspace } from '../../../../platform/http/auth/request-principal';
import { LOG_RANGE, rangeOf } from '../../../../platform/http/byte-range';
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
  LogSearchQuery,
  LogSearchResult,
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

nameEnum('JobLog', LOG_STREAMS.run, 'A log of a job.', { events: 'the event log of Spark' });

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
    description:
      'Returns the jobs of the workspace whose configuration name contains the text, ignoring case, newest first.',
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
    description:
      'Returns the jobs of the workspace, newest first; without filters, those of every configuration and cluster. Notebook instances are listed by `listNotebooks`.',
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
      'Submits a run of the configuration. The job waits as SUBMITTED until a node of the cluster has a free slot; a STOPPED cluster is started for it. Follow it with `getJob` and `getJobLog`. It is refused with 409 if the configuration, the workspace or the cluster is disabled, if the cluster is DESTROYED or in ERROR, or if `max_concurrency` jobs are unfinished.\n\nThe job can use your own secrets: those that its cluster names, and those that open its catalog. Everyone who may edit the file, the configuration or the cluster of the job decides which code can read them.',
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
    description:
      'Requests the end of a job that is SUBMITTED or RUNNING; others are refused with 409. The job becomes STOPPING and then STOPPED; one that does not end within its grace period is KILLED.',
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
    description:
      "Finds the newest job of the workspace with Spark's application id, as Spark's own pages and logs show it, and returns it with the states of its workflow.",
    tag,
    access: view,
    response: Responses.one(JobWorkflowDetails),
  })
  workflowDetails(
    @InWorkspace() scope: WorkspaceScope,
    @TextParam('job_application_id', "Spark's application id") applicationId: string,
  ): Promise<JobWorkflowDetails> {
    return this.jobs.workflowDetails(scope, applicationId);
  }

  @Operation({
    method: 'GET',
    path: `${base}/job/{job_id}`,
    id: 'getJob',
    summary: 'Get a job',
    description:
      'Returns the job with its status, which changes until the job has ended, and the reason of its end. Poll it every few seconds to wait for a job.',
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
    description:
      'Returns every status that the job has had, with times, authors, reasons and steps, oldest first. `getRunTimeline` shows it beside the states of the cluster.',
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
      "Sends a log as text: `stdout`, `stderr`, or `events`, the Spark event log of the job's first application with one JSON object per line, which Spark's History Server can read. The log of a job that has written nothing is empty and not a 404. The header `x-log-offset` says where a later request continues. A header `Range: bytes=` with one part is answered with 206 and that part, and with 416 if the log ends before it. Logs are kept for `LOG_RETENTION_DAYS` days after the end of the job.",
    tag,
    access: view,
    response: Responses.text,
    headers: LOG_RANGE,
  })
  async log(
    @InWorkspace() scope: WorkspaceScope,
    @IdParam('job_id') jobId: number,
    @WordParam('log_type', LOG_STREAMS.run, 'Which output is sent; events is the event log of Spark') logType: string,
    @Query() query: JobLogQuery,
    @Headers() headers: IncomingHttpHeaders,
    @Res() response: Response,
  ): Promise<void> {
    const part = { ...query, stream: logType as LogStream, range: rangeOf(headers) };
    await sendLog(response, await this.runs.log({ ...scope, kind: JOB }, jobId, part));
  }

  @Operation({
    method: 'GET',
    path: `${base}/job/{job_id}/log/{log_type}/search`,
    id: 'searchJobLog',
    summary: 'Find the lines of a log that contain a text',
    description:
      'Returns the lines that contain the text, with their offsets in the log, so that `getJobLog` can show what is around them. One request searches 64 MiB for about a second at most: while `next_offset` is not null, send it as `offset` to continue. A line of more than 8 KiB is searched in parts. Status 429 means that too many logs are being searched.',
    isExtension: true,
    tag,
    access: view,
    response: Responses.one(LogSearchResult),
    errors: [429],
  })
  async searchLog(
    @InWorkspace() scope: WorkspaceScope,
    @IdParam('job_id') jobId: number,
    @WordParam('log_type', LOG_STREAMS.run, 'Which output is searched') logType: string,
    @Query() query: LogSearchQuery,
    @Res({ passthrough: true }) response: Response,
  ): Promise<LogSearchResult> {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const search = { ...query, stream: logType as LogStream, signal: gone.signal };
    return this.runs.searchLog({ ...scope, kind: JOB }, jobId, search);
  }

  @Operation({
    method: 'GET',
    path: `${base}/job/{job_id}/metrics`,
    id: 'getJobMetrics',
    summary: 'Get metrics of the Spark application of a job, while it runs or afterwards',
    description:
      "Returns stages, executors and totals from the Spark event log of the job's first application. The lists are empty until that application has started, and after the log was removed at the end of its retention.",
    isExtension: true,
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
    description: 'Returns why a job is ERROR or TERMINATED, as one entry. The list of any other job is empty.',
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
