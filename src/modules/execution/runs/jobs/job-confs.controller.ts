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
    description:
      'Returns the configurations of the workspace whose name contains the text, ignoring case, newest first. A search that finds nothing is answered with 404.',
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
    description:
      'Returns the job configurations of the workspace with their newest job, newest first. Notebooks are listed by `listNotebookConfs`.',
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
    description:
      'Stores what to run, on which cluster and with which settings; nothing runs yet. `createJob` runs it. The workspace must be enabled and the cluster must serve it. Each type needs its own fields: Python3 a `command`, Jar a `command` and a `class_name`, RAW_SCALA and SQL `rawScalaCode`, PLATFORM_FUNCTIONS a script and a function. Whether files exist is not checked until the job runs. A name that is already in use in the workspace is refused with 409.',
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
    description:
      'Returns one configuration of the workspace with all its settings. Enabled and disabled ones are found.',
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
    description:
      'Changes the fields that are sent. The workspace and the configuration must be enabled, else it is refused with 409. Jobs that were already submitted keep their settings; the next job has the new ones.',
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
    description:
      'Removes the configuration. It is refused with 409 while a job of it is unfinished. Its finished jobs and their logs stay readable.',
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
    description:
      'Sends a JSON file, a `JobConfExport`, which `importWorkspace` can read as part of a document. Values in conf, Java properties and extra_info whose names look like secrets are exported empty.',
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
    description: 'Jobs of the configuration can be submitted again. One that is already enabled is refused with 409.',
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
    description:
      'Prevents new jobs of the configuration, and sets its to_date; submitted jobs continue. One that is already disabled is refused with 409.',
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
