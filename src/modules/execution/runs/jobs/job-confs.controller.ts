import { Body, Controller, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { Allow } from '../../../../platform/kernel/auth/access';
import type { WorkspaceScope } from '../../../../platform/kernel/auth/principal';
import { InWorkspace } from '../../../../platform/http/auth/request-principal';
import { Message } from '../../../../platform/kernel/dto/response-fields';
import { sendContent } from '../../../../platform/http/file-response';
import { Responses, Operation } from '../../../../platform/http/operation';
import { type Page } from '../../../../platform/kernel/dto/page';
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

const tag = 'Jobs';
const base = '/workspace/{workspace_id}/spark';
const view = Allow.workspace('VIEW');
const edit = Allow.workspace('EDIT');

@Controller()
export class JobConfsController {
  constructor(private readonly jobConfs: JobConfsService) {}

  @Operation({
    method: 'GET',
    path: `${base}/job/confs/search`,
    id: 'searchJobConfs',
    summary: 'Search job configurations by part of the name',
    tag,
    access: view,
    response: Responses.page(JobConfListItem),
  })
  search(@InWorkspace() scope: WorkspaceScope, @Query() query: JobConfSearchQuery): Promise<Page<JobConfListItem>> {
    return this.jobConfs.list(scope, query);
  }

  @Operation({
    method: 'GET',
    path: `${base}/job/confs`,
    id: 'listJobConfs',
    summary: 'List job configurations, newest first',
    tag,
    access: view,
    response: Responses.page(JobConfListItem),
  })
  list(@InWorkspace() scope: WorkspaceScope, @Query() query: JobConfListQuery): Promise<Page<JobConfListItem>> {
    return this.jobConfs.list(scope, query);
  }

  @Operation({
    method: 'POST',
    path: `${base}/job/conf`,
    id: 'createJobConf',
    summary: 'Create a job configuration',
    tag,
    access: edit,
    response: Responses.one(JobConfWrite),
    errors: [409],
  })
  create(@InWorkspace() scope: WorkspaceScope, @Body() body: CreateJobConf): Promise<JobConfWrite> {
    return this.jobConfs.create(scope, body);
  }

  @Operation({
    method: 'GET',
    path: `${base}/job/conf`,
    id: 'getJobConf',
    summary: 'Get a job configuration by id or name',
    tag,
    access: view,
    response: Responses.one(JobConfRead),
  })
  get(@InWorkspace() scope: WorkspaceScope, @Query() query: JobConfSelector): Promise<JobConfRead> {
    return this.jobConfs.get(scope, query.selector());
  }

  @Operation({
    method: 'PUT',
    path: `${base}/job/conf`,
    id: 'updateJobConf',
    summary: 'Update a job configuration; jobs that were already submitted keep their settings',
    tag,
    access: edit,
    response: Responses.one(JobConfWrite),
    status: 201,
    errors: [409],
  })
  update(
    @InWorkspace() scope: WorkspaceScope,
    @Query() query: JobConfSelector,
    @Body() body: UpdateJobConf,
  ): Promise<JobConfWrite> {
    return this.jobConfs.update(scope, query.selector(), body);
  }

  @Operation({
    method: 'DELETE',
    path: `${base}/job/conf`,
    id: 'deleteJobConf',
    summary: 'Delete a job configuration that has no unfinished jobs; its finished jobs stay readable',
    tag,
    access: edit,
    response: Responses.message,
    status: 201,
    errors: [409],
  })
  delete(@InWorkspace() scope: WorkspaceScope, @Query() query: JobConfSelector): Promise<Message> {
    return this.jobConfs.delete(scope, query.selector());
  }

  @Operation({
    method: 'GET',
    path: `${base}/job/conf/export`,
    id: 'exportJobConf',
    summary: 'Export a job configuration as a JSON file (`JobConfExport`)',
    description: 'Conf values, Java properties and extra_info whose names look secret are exported empty.',
    tag,
    access: view,
    response: Responses.binary,
  })
  async export(
    @InWorkspace() scope: WorkspaceScope,
    @Query() query: JobConfSelector,
    @Res() response: Response,
  ): Promise<void> {
    await sendContent(response, await this.jobConfs.export(scope, query.selector()));
  }

  @Operation({
    method: 'PUT',
    path: `${base}/job/conf/enable`,
    id: 'enableJobConf',
    summary: 'Enable a job configuration',
    tag,
    access: edit,
    response: Responses.one(JobConfWrite),
    status: 201,
    errors: [409],
  })
  enable(@InWorkspace() scope: WorkspaceScope, @Query() query: JobConfSelector): Promise<JobConfWrite> {
    return this.jobConfs.setActive(scope, query.selector(), true);
  }

  @Operation({
    method: 'PUT',
    path: `${base}/job/conf/disable`,
    id: 'disableJobConf',
    summary: 'Disable a job configuration, so that no new job of it can be submitted',
    tag,
    access: edit,
    response: Responses.one(JobConfWrite),
    status: 201,
    errors: [409],
  })
  disable(@InWorkspace() scope: WorkspaceScope, @Query() query: JobConfSelector): Promise<JobConfWrite> {
    return this.jobConfs.setActive(scope, query.selector(), false);
  }
}
