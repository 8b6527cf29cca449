import { Body, Controller, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { Allow } from '../../../../platform/kernel/auth/access';
import type { WorkspaceScope } from '../../../../platform/kernel/auth/principal';
import { InWorkspace } from '../../../../platform/http/auth/request-principal';
import { Message } from '../../../../platform/kernel/dto/response-fields';
import { sendContent, sendJson } from '../../../../platform/http/file-response';
import { Responses, Operation } from '../../../../platform/http/operation';
import { type Page } from '../../../../platform/kernel/dto/page';
import { IdParam } from '../../../../platform/http/parameters';
import {
  CloneNotebookConfQuery,
  CreateNotebookConf,
  NotebookConfListItem,
  NotebookConfListQuery,
  NotebookConfRead,
  NotebookConfSearchQuery,
  NotebookConfSelector,
  NotebookConfWrite,
  UpdateNotebookCells,
  UpdateNotebookCellsQuery,
  UpdateNotebookConf,
} from './dto/notebook-conf.dto';
import { NotebookCellsService } from './notebook-cells.service';
import { NotebookConfsService } from './notebook-confs.service';
import { MAX_NOTEBOOK_BYTES, MAX_VALUES } from './notebook-reader.service';

const tag = 'Notebooks';
const base = '/workspace/{workspace_id}/notebook';
const view = Allow.workspace('VIEW');
const edit = Allow.workspace('EDIT');

@Controller()
export class NotebookConfsController {
  constructor(
    private readonly confs: NotebookConfsService,
    private readonly cells: NotebookCellsService,
  ) {}

  @Operation({
    method: 'GET',
    path: `${base}/confs/search`,
    id: 'searchNotebookConfs',
    summary: 'Search notebook configurations by part of the name',
    description: 'Responds with 404 if nothing is found.',
    tag,
    access: view,
    response: Responses.page(NotebookConfListItem),
  })
  search(
    @InWorkspace() scope: WorkspaceScope,
    @Query() query: NotebookConfSearchQuery,
  ): Promise<Page<NotebookConfListItem>> {
    return this.confs.list(scope, query);
  }

  @Operation({
    method: 'GET',
    path: `${base}/confs`,
    id: 'listNotebookConfs',
    summary: 'List notebook configurations, newest first',
    tag,
    access: view,
    response: Responses.page(NotebookConfListItem),
  })
  list(
    @InWorkspace() scope: WorkspaceScope,
    @Query() query: NotebookConfListQuery,
  ): Promise<Page<NotebookConfListItem>> {
    return this.confs.list(scope, query);
  }

  @Operation({
    method: 'POST',
    path: `${base}/conf`,
    id: 'createNotebookConf',
    summary: 'Create a notebook configuration whose notebook is a file of the workspace',
    tag,
    access: edit,
    response: Responses.one(NotebookConfWrite),
    errors: [409],
  })
  create(@InWorkspace() scope: WorkspaceScope, @Body() body: CreateNotebookConf): Promise<NotebookConfWrite> {
    return this.confs.create(scope, body);
  }

  @Operation({
    method: 'GET',
    path: `${base}/conf`,
    id: 'getNotebookConf',
    summary: 'Get a notebook configuration by id or name, with its cells and their outputs',
    tag,
    access: view,
    response: Responses.one(NotebookConfRead),
  })
  async get(
    @InWorkspace() scope: WorkspaceScope,
    @Query() query: NotebookConfSelector,
    @Res() response: Response,
  ): Promise<void> {
    await sendJson(response, await this.confs.get(scope, query.selector()));
  }

  @Operation({
    method: 'PUT',
    path: `${base}/conf`,
    id: 'updateNotebookConf',
    summary: 'Update a notebook configuration; instances that were already started keep their settings',
    tag,
    access: edit,
    response: Responses.one(NotebookConfWrite),
    status: 201,
    errors: [409],
  })
  update(
    @InWorkspace() scope: WorkspaceScope,
    @Query() query: NotebookConfSelector,
    @Body() body: UpdateNotebookConf,
  ): Promise<NotebookConfWrite> {
    return this.confs.update(scope, query.selector(), body);
  }

  @Operation({
    method: 'DELETE',
    path: `${base}/conf`,
    id: 'deleteNotebookConf',
    summary: 'Delete a notebook configuration that has no unfinished instances; its file is kept',
    tag,
    access: edit,
    response: Responses.message,
    status: 201,
    errors: [409],
  })
  delete(@InWorkspace() scope: WorkspaceScope, @Query() query: NotebookConfSelector): Promise<Message> {
    return this.confs.delete(scope, query.selector());
  }

  @Operation({
    method: 'GET',
    path: `${base}/conf/export`,
    id: 'exportNotebookConf',
    summary: 'Export a notebook as an .ipynb file with its current outputs',
    tag,
    access: view,
    response: Responses.binary,
  })
  async export(
    @InWorkspace() scope: WorkspaceScope,
    @Query() query: NotebookConfSelector,
    @Res() response: Response,
  ): Promise<void> {
    await sendContent(response, await this.confs.export(scope, query.selector()));
  }

  @Operation({
    method: 'PUT',
    path: `${base}/conf/enable`,
    id: 'enableNotebookConf',
    summary: 'Enable a notebook configuration',
    tag,
    access: edit,
    response: Responses.one(NotebookConfWrite),
    status: 201,
    errors: [409],
  })
  enable(@InWorkspace() scope: WorkspaceScope, @Query() query: NotebookConfSelector): Promise<NotebookConfWrite> {
    return this.confs.setActive(scope, query.selector(), true);
  }

  @Operation({
    method: 'PUT',
    path: `${base}/conf/disable`,
    id: 'disableNotebookConf',
    summary: 'Disable a notebook configuration, so that no new instance of it can be started',
    tag,
    access: edit,
    response: Responses.one(NotebookConfWrite),
    status: 201,
    errors: [409],
  })
  disable(@InWorkspace() scope: WorkspaceScope, @Query() query: NotebookConfSelector): Promise<NotebookConfWrite> {
    return this.confs.setActive(scope, query.selector(), false);
  }

  @Operation({
    method: 'POST',
    path: `${base}/conf/clone`,
    id: 'cloneNotebookConf',
    summary: 'Copy a notebook configuration and its cells, without outputs',
    tag,
    access: edit,
    response: Responses.one(NotebookConfWrite),
    errors: [409],
  })
  clone(@InWorkspace() scope: WorkspaceScope, @Query() query: CloneNotebookConfQuery): Promise<NotebookConfWrite> {
    const { new_notebook_name: name, clone_file_path: path } = query;
    return this.confs.clone(scope, query.selector(), { name, path });
  }

  @Operation({
    method: 'POST',
    path: `${base}/{notebook_conf_id}/update`,
    id: 'updateNotebookCells',
    summary: 'Store the cells of a notebook with their outputs',
    description:
      'RUN allows changing only outputs; changing the code, order, number or metadata of cells requires EDIT. Outputs of cells that an unfinished instance has executed are kept as the server has them.',
    tag,
    access: Allow.workspace('RUN'),
    response: Responses.message,
    status: 201,
    errors: [409],
    document: { maxBytes: MAX_NOTEBOOK_BYTES, maxValues: MAX_VALUES },
  })
  updateCells(
    @IdParam('notebook_conf_id') notebookConfId: number,
    @InWorkspace() scope: WorkspaceScope,
    @Query() _query: UpdateNotebookCellsQuery,
    @Body() body: UpdateNotebookCells,
  ): Promise<Message> {
    return this.cells.update(scope, notebookConfId, body.cells);
  }
}
