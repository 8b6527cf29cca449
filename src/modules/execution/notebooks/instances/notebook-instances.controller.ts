import { nameEnum } from '../../../../platform/kernel/dto/named-enums';
import { Body, Controller, Headers, Query, Res } from '@nestjs/common';
import type { IncomingHttpHeaders } from 'node:http';
import type { Response } from 'express';
import { Allow } from '../../../../platform/kernel/auth/access';
import type { WorkspaceScope } from '../../../../platform/kernel/auth/principal';
import { InWorkspace } from '../../../../platform/http/auth/request-principal';
import { LOG_RANGE, rangeOf } from '../../../../platform/http/byte-range';
import { sendContent, sendLog } from '../../../../platform/http/file-response';
import { Responses, Operation } from '../../../../platform/http/operation';
import { type Page, PageQuery } from '../../../../platform/kernel/dto/page';
import { IdParam, WordParam } from '../../../../platform/http/parameters';
import { JobLogQuery, NOTEBOOK, RunsService, WorkflowErrorRead } from '../../runs';
import {
  CreateNotebook,
  NotebookCreated,
  NotebookKill,
  NotebookListQuery,
  NotebookRead,
  NotebookSearchQuery,
} from './dto/notebook.dto';
import { NotebookInstancesService } from './notebook-instances.service';

const tag = 'Notebooks';
const base = '/workspace/{workspace_id}';
const view = Allow.workspace('VIEW');
const run = Allow.workspace('RUN');
const OUTPUTS = nameEnum('OutputStream', ['stdout', 'stderr'], 'An output of a process.');

@Controller()
export class NotebookInstancesController {
  constructor(
    private readonly notebooks: NotebookInstancesService,
    private readonly runs: RunsService,
  ) {}

  @Operation({
    method: 'POST',
    path: `${base}/notebook`,
    id: 'createNotebook',
    summary: 'Start a notebook',
    description:
      'Starts an instance of the notebook: a Spark application with a kernel that executes cells. It waits as SUBMITTED until a node has a free slot; a STOPPED cluster is started for it. It is refused with 409 like a job: if the configuration, the workspace or the cluster is disabled, if the cluster is DESTROYED or in ERROR, or if `max_concurrency` instances are unfinished.',
    tag,
    access: run,
    response: Responses.one(NotebookCreated),
    errors: [409],
  })
  start(@InWorkspace() scope: WorkspaceScope, @Body() body: CreateNotebook): Promise<NotebookCreated> {
    return this.notebooks.start(scope, body);
  }

  @Operation({
    method: 'GET',
    path: `${base}/notebooks/search`,
    id: 'searchNotebooks',
    summary: 'Search notebook instances by part of the name',
    description:
      'Returns the instances of the workspace whose notebook name contains the text, ignoring case. It has the same filters as the list.',
    tag,
    access: view,
    response: Responses.page(NotebookRead),
  })
  search(@InWorkspace() scope: WorkspaceScope, @Query() query: NotebookSearchQuery): Promise<Page<NotebookRead>> {
    return this.notebooks.list(scope, query, query.notebook_name);
  }

  @Operation({
    method: 'GET',
    path: `${base}/notebooks`,
    id: 'listNotebooks',
    summary: 'List notebook instances, newest first; 404 if there is none',
    description: 'Returns the instances of the workspace that match the filters. If there is none, the answer is 404.',
    tag,
    access: view,
    response: Responses.page(NotebookRead),
  })
  list(@InWorkspace() scope: WorkspaceScope, @Query() query: NotebookListQuery): Promise<Page<NotebookRead>> {
    return this.notebooks.list(scope, query);
  }

  @Operation({
    method: 'GET',
    path: `${base}/notebook/{notebook_id}`,
    id: 'getNotebook',
    summary: 'Get a notebook instance',
    description:
      'Returns the instance with its status, which changes until it has ended, its kernel, and the reason of its end.',
    tag,
    access: view,
    response: Responses.one(NotebookRead),
  })
  get(@InWorkspace() scope: WorkspaceScope, @IdParam('notebook_id') notebookId: number): Promise<NotebookRead> {
    return this.notebooks.get(scope, notebookId);
  }

  @Operation({
    method: 'POST',
    path: `${base}/notebook/kill/{notebook_id}`,
    id: 'killNotebook',
    summary: 'Stop a notebook with its kernel and its Spark application',
    description:
      'Ends the kernel and the Spark application of an instance that is SUBMITTED or RUNNING; others are refused with 409. The instance becomes STOPPING and then STOPPED. Outputs that the server has received are kept.',
    tag,
    access: run,
    response: Responses.one(NotebookKill),
    status: 201,
    errors: [409],
  })
  kill(@InWorkspace() scope: WorkspaceScope, @IdParam('notebook_id') notebookId: number): Promise<NotebookKill> {
    return this.notebooks.kill(scope, notebookId);
  }

  @Operation({
    method: 'GET',
    path: `${base}/notebook/{notebook_id}/log/{log_type}`,
    id: 'getNotebookLog',
    summary: 'Get a log of a notebook instance, while it runs or afterwards',
    description:
      'Sends `stdout` or `stderr` of the instance as text. The log of an instance that has written nothing is empty and not a 404. The header `x-log-offset` says where a later request continues. A header `Range: bytes=` with one part is answered with 206 and that part, and with 416 if the log ends before it. Logs are kept for `LOG_RETENTION_DAYS` days after the end of the instance.',
    tag,
    access: view,
    response: Responses.text,
    headers: LOG_RANGE,
  })
  async log(
    @InWorkspace() scope: WorkspaceScope,
    @IdParam('notebook_id') notebookId: number,
    @WordParam('log_type', OUTPUTS, 'Which output is sent') logType: string,
    @Query() query: JobLogQuery,
    @Headers() headers: IncomingHttpHeaders,
    @Res() response: Response,
  ): Promise<void> {
    const part = { ...query, stream: logType as (typeof OUTPUTS)[number], range: rangeOf(headers) };
    await sendLog(response, await this.runs.log({ ...scope, kind: NOTEBOOK }, notebookId, part));
  }

  @Operation({
    method: 'GET',
    path: `${base}/notebook/{notebook_id}/download`,
    id: 'downloadNotebookRun',
    summary: 'Download the notebook at the start of the instance, as an .ipynb file without outputs',
    description: 'Sends the notebook as it was when the instance was started, as an .ipynb file without outputs.',
    tag,
    access: view,
    response: Responses.binary,
  })
  async download(
    @InWorkspace() scope: WorkspaceScope,
    @IdParam('notebook_id') notebookId: number,
    @Res() response: Response,
  ): Promise<void> {
    await sendContent(response, await this.notebooks.download(scope, notebookId));
  }

  @Operation({
    method: 'GET',
    path: `${base}/notebook/{notebook_id}/workflow/errors`,
    id: 'listNotebookWorkflowErrors',
    summary: 'List the errors of the workflow of a notebook instance',
    description:
      'Returns why an instance is ERROR or TERMINATED, as one entry. The list of any other instance is empty.',
    tag,
    access: view,
    response: Responses.page(WorkflowErrorRead),
  })
  errors(
    @InWorkspace() scope: WorkspaceScope,
    @IdParam('notebook_id') notebookId: number,
    @Query() page: PageQuery,
  ): Promise<Page<WorkflowErrorRead>> {
    return this.runs.workflowErrors({ ...scope, kind: NOTEBOOK }, notebookId, page);
  }
}
