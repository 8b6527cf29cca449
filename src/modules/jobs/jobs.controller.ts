import { Body, Controller, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import type { LogStream } from '../../../libs/contracts/agent-protocol';
import { Allow } from '../../platform/auth/access';
import type { TenantScope, WorkspaceContext } from '../../platform/auth/principal';
import { CurrentScope, CurrentWorkspace } from '../../platform/auth/request-principal';
import { Message } from '../../platform/http/answers';
import { sendContent, sendLog } from '../../platform/http/file-answer';
import { Answers, Operation } from '../../platform/http/operation';
import { type Page, PageQuery } from '../../platform/http/page';
import { IdParam, TextParam, WordParam } from '../../platform/http/parameters';
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
import {
  CreateJobConf,
  JobConfListItem,
  JobConfListQuery,
  JobConfRead,
  JobConfSearchQuery,
  JobConfSelector,
  JobConfWrite,
  UpdateJobConf,
} from './dto/job-conf.dto';
import { JobConfsService } from './job-confs.service';
import { RunsService } from './runs.service';

const tag = 'Jobs';
const base = '/workspace/{workspace_id}/spark';
const view = Allow.workspace('VIEW');
const edit = Allow.workspace('EDIT');

@Controller()
export class JobsController {
  constructor(
    private readonly jobConfs: JobConfsService,
    private readonly runs: RunsService,
  ) {}

  @Operation({
    method: 'GET',
    path: `${base}/job/confs/search`,
    id: 'searchJobConfs',
    summary: 'Search job configurations by part of the name',
    tag,
    access: view,
    answer: Answers.page(JobConfListItem),
  })
  searchConfs(
    @IdParam('workspace_id') _id: number,
    @CurrentScope() scope: TenantScope,
    @CurrentWorkspace() workspace: WorkspaceContext,
    @Query() query: JobConfSearchQuery,
  ): Promise<Page<JobConfListItem>> {
    return this.jobConfs.list(scope, workspace, query);
  }

  @Operation({
    method: 'GET',
    path: `${base}/job/confs`,
    id: 'listJobConfs',
    summary: 'List job configurations, newest first',
    tag,
    access: view,
    answer: Answers.page(JobConfListItem),
  })
  listConfs(
    @IdParam('workspace_id') _id: number,
    @CurrentScope() scope: TenantScope,
    @CurrentWorkspace() workspace: WorkspaceContext,
    @Query() query: JobConfListQuery,
  ): Promise<Page<JobConfListItem>> {
    return this.jobConfs.list(scope, workspace, query);
  }

  @Operation({
    method: 'POST',
    path: `${base}/job/conf`,
    id: 'createJobConf',
    summary: 'Create a job configuration',
    tag,
    access: edit,
    answer: Answers.one(JobConfWrite),
    errors: [409],
  })
  createConf(
    @IdParam('workspace_id') _id: number,
    @CurrentScope() scope: TenantScope,
    @CurrentWorkspace() workspace: WorkspaceContext,
    @Body() body: CreateJobConf,
  ): Promise<JobConfWrite> {
    return this.jobConfs.create(scope, workspace, body);
  }

  @Operation({
    method: 'GET',
    path: `${base}/job/conf`,
    id: 'getJobConf',
    summary: 'Get a job configuration by id or name',
    tag,
    access: view,
    answer: Answers.one(JobConfRead),
  })
  getConf(
    @IdParam('workspace_id') _id: number,
    @CurrentScope() scope: TenantScope,
    @CurrentWorkspace() workspace: WorkspaceContext,
    @Query() query: JobConfSelector,
  ): Promise<JobConfRead> {
    return this.jobConfs.get(scope, workspace, query.selector());
  }

  @Operation({
    method: 'PUT',
    path: `${base}/job/conf`,
    id: 'updateJobConf',
    summary: 'Update a job configuration; jobs submitted before keep what they began with',
    tag,
    access: edit,
    answer: Answers.one(JobConfWrite),
    status: 201,
    errors: [409],
  })
  updateConf(
    @IdParam('workspace_id') _id: number,
    @CurrentScope() scope: TenantScope,
    @CurrentWorkspace() workspace: WorkspaceContext,
    @Query() query: JobConfSelector,
    @Body() body: UpdateJobConf,
  ): Promise<JobConfWrite> {
    return this.jobConfs.update(scope, workspace, query.selector(), body);
  }

  @Operation({
    method: 'DELETE',
    path: `${base}/job/conf`,
    id: 'deleteJobConf',
    summary: 'Delete a job configuration without unfinished jobs; its ended ones stay readable',
    tag,
    access: edit,
    answer: Answers.message,
    status: 201,
    errors: [409],
  })
  deleteConf(
    @IdParam('workspace_id') _id: number,
    @CurrentScope() scope: TenantScope,
    @CurrentWorkspace() workspace: WorkspaceContext,
    @Query() query: JobConfSelector,
  ): Promise<Message> {
    return this.jobConfs.delete(scope, workspace, query.selector());
  }

  @Operation({
    method: 'GET',
    path: `${base}/job/conf/export`,
    id: 'exportJobConf',
    summary: 'Export a job configuration as a JSON file, a JobConfExport',
    description: 'Conf values, Java properties and extra_info whose names look secret are exported empty.',
    tag,
    access: view,
    answer: Answers.binary,
  })
  async exportConf(
    @IdParam('workspace_id') _id: number,
    @CurrentScope() scope: TenantScope,
    @CurrentWorkspace() workspace: WorkspaceContext,
    @Query() query: JobConfSelector,
    @Res() response: Response,
  ): Promise<void> {
    await sendContent(response, await this.jobConfs.export(scope, workspace, query.selector()));
  }

  @Operation({
    method: 'PUT',
    path: `${base}/job/conf/enable`,
    id: 'enableJobConf',
    summary: 'Enable a job configuration',
    tag,
    access: edit,
    answer: Answers.one(JobConfWrite),
    status: 201,
    errors: [409],
  })
  enableConf(
    @IdParam('workspace_id') _id: number,
    @CurrentScope() scope: TenantScope,
    @CurrentWorkspace() workspace: WorkspaceContext,
    @Query() query: JobConfSelector,
  ): Promise<JobConfWrite> {
    return this.jobConfs.enable(scope, workspace, query.selector());
  }

  @Operation({
    method: 'PUT',
    path: `${base}/job/conf/disable`,
    id: 'disableJobConf',
    summary: 'Disable a job configuration: no new job of it can be submitted',
    tag,
    access: edit,
    answer: Answers.one(JobConfWrite),
    status: 201,
    errors: [409],
  })
  disableConf(
    @IdParam('workspace_id') _id: number,
    @CurrentScope() scope: TenantScope,
    @CurrentWorkspace() workspace: WorkspaceContext,
    @Query() query: JobConfSelector,
  ): Promise<JobConfWrite> {
    return this.jobConfs.disable(scope, workspace, query.selector());
  }

  @Operation({
    method: 'GET',
    path: `${base}/jobs/search`,
    id: 'searchJobs',
    summary: 'Search jobs by part of the name of their configuration',
    tag,
    access: view,
    answer: Answers.page(JobRead),
  })
  search(
    @IdParam('workspace_id') _id: number,
    @CurrentScope() scope: TenantScope,
    @CurrentWorkspace() workspace: WorkspaceContext,
    @Query() query: JobSearchQuery,
  ): Promise<Page<JobRead>> {
    return this.runs.list(scope, workspace, query, query.job_conf_name);
  }

  @Operation({
    method: 'GET',
    path: `${base}/jobs`,
    id: 'listJobs',
    summary: 'List jobs, newest first',
    tag,
    access: view,
    answer: Answers.page(JobRead),
  })
  list(
    @IdParam('workspace_id') _id: number,
    @CurrentScope() scope: TenantScope,
    @CurrentWorkspace() workspace: WorkspaceContext,
    @Query() query: JobListQuery,
  ): Promise<Page<JobRead>> {
    return this.runs.list(scope, workspace, query);
  }

  @Operation({
    method: 'POST',
    path: `${base}/job`,
    id: 'createJob',
    summary: 'Run a job',
    tag,
    access: Allow.workspace('RUN'),
    answer: Answers.one(JobCreated),
    errors: [409],
  })
  submit(
    @IdParam('workspace_id') _id: number,
    @CurrentScope() scope: TenantScope,
    @CurrentWorkspace() workspace: WorkspaceContext,
    @Body() body: CreateJob,
  ): Promise<JobCreated> {
    return this.runs.submit(scope, workspace, body);
  }

  @Operation({
    method: 'POST',
    path: `${base}/job/kill/{job_id}`,
    id: 'killJob',
    summary: 'Stop a job; it is killed when it does not end within its grace',
    tag,
    access: Allow.workspace('RUN'),
    answer: Answers.one(JobKill),
    status: 201,
    errors: [409],
  })
  kill(
    @IdParam('workspace_id') _id: number,
    @CurrentScope() scope: TenantScope,
    @CurrentWorkspace() workspace: WorkspaceContext,
    @IdParam('job_id') jobId: number,
  ): Promise<JobKill> {
    return this.runs.stop(scope, workspace, jobId);
  }

  @Operation({
    method: 'GET',
    path: `${base}/job/workflow_job_instance_details/{job_application_id}`,
    id: 'getJobWorkflowDetails',
    summary: "The workflow behind a job, by Spark's application id",
    tag,
    access: view,
    answer: Answers.one(JobWorkflowDetails),
  })
  workflowDetails(
    @IdParam('workspace_id') _id: number,
    @CurrentScope() scope: TenantScope,
    @CurrentWorkspace() workspace: WorkspaceContext,
    @TextParam('job_application_id') applicationId: string,
  ): Promise<JobWorkflowDetails> {
    return this.runs.workflowDetails(scope, workspace, applicationId);
  }

  @Operation({
    method: 'GET',
    path: `${base}/job/{job_id}`,
    id: 'getJob',
    summary: 'Get a job',
    tag,
    access: view,
    answer: Answers.one(JobRead),
  })
  get(
    @IdParam('workspace_id') _id: number,
    @CurrentScope() scope: TenantScope,
    @CurrentWorkspace() workspace: WorkspaceContext,
    @IdParam('job_id') jobId: number,
  ): Promise<JobRead> {
    return this.runs.get(scope, workspace, jobId);
  }

  @Operation({
    method: 'GET',
    path: `${base}/job/{job_id}/status`,
    id: 'getJobStatus',
    summary: 'Status history of a job',
    tag,
    access: view,
    answer: Answers.one(JobStatusHistory),
  })
  status(
    @IdParam('workspace_id') _id: number,
    @CurrentScope() scope: TenantScope,
    @CurrentWorkspace() workspace: WorkspaceContext,
    @IdParam('job_id') jobId: number,
  ): Promise<JobStatusHistory> {
    return this.runs.status(scope, workspace, jobId);
  }

  @Operation({
    method: 'GET',
    path: `${base}/job/{job_id}/log/{log_type}`,
    id: 'getJobLog',
    summary: 'Log of a job, while it runs and afterwards',
    tag,
    access: view,
    answer: Answers.text,
  })
  async log(
    @IdParam('workspace_id') _id: number,
    @CurrentScope() scope: TenantScope,
    @CurrentWorkspace() workspace: WorkspaceContext,
    @IdParam('job_id') jobId: number,
    @WordParam('log_type', ['stdout', 'stderr']) logType: string,
    @Query() query: JobLogQuery,
    @Res() response: Response,
  ): Promise<void> {
    await sendLog(response, await this.runs.log(scope, workspace, jobId, logType as LogStream, query));
  }

  @Operation({
    method: 'GET',
    path: `${base}/job/{job_id}/workflow/errors`,
    id: 'listJobWorkflowErrors',
    summary: 'Errors of the workflow of a job',
    tag,
    access: view,
    answer: Answers.page(WorkflowErrorRead),
  })
  errors(
    @IdParam('workspace_id') _id: number,
    @CurrentScope() scope: TenantScope,
    @CurrentWorkspace() workspace: WorkspaceContext,
    @IdParam('job_id') jobId: number,
    @Query() page: PageQuery,
  ): Promise<Page<WorkflowErrorRead>> {
    return this.runs.errors(scope, workspace, jobId, page);
  }
}
