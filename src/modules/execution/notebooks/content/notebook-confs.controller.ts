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
  NotebookCellsWritten,
  NotebookConfRead,
  NotebookConfReadQuery,
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
    description:
      'Returns the notebook configurations of the workspace whose name contains the text, ignoring case, without their cells. A search that finds nothing is answered with 404.',
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
    description:
      'Returns the notebook configurations of the workspace, without their cells but with their newest instance.',
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
    description:
      'Stores a notebook and its settings; nothing runs yet, `createNotebook` starts an instance. An existing .ipynb file becomes the notebook, a missing one is created empty. The workspace must be enabled and the cluster must serve it. A name that is already in use in the workspace is refused with 409.',
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
    description:
      'Returns one configuration with its cells and their current outputs, unless `with_outputs` is false. Enabled and disabled ones are found.',
    tag,
    access: view,
    response: Responses.one(NotebookConfRead),
  })
  async get(
    @InWorkspace() scope: WorkspaceScope,
    @Query() query: NotebookConfReadQuery,
    @Res() response: Response,
  ): Promise<void> {
    await sendJson(response, await this.confs.get(scope, query.selector(), query.with_outputs));
  }

  @Operation({
    method: 'PUT',
    path: `${base}/conf`,
    id: 'updateNotebookConf',
    summary: 'Update a notebook configuration; instances that were already started keep their settings',
    description:
      'Changes the fields that are sent. The workspace and the configuration must be enabled, else it is refused with 409. Instances that were already started keep their settings.',
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
    description:
      'Removes the configuration; its .ipynb file stays in the workspace. It is refused with 409 while an instance of it is unfinished.',
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
    description:
      'Sends the notebook as an .ipynb file, which Jupyter can open, with its current outputs. The name is in the header Content-Disposition.',
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
    description: 'Instances of the notebook can be started again. One that is already enabled is refused with 409.',
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
    description:
      'Prevents new instances of the notebook, and sets its to_date; started ones continue. One that is already disabled is refused with 409.',
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
    description:
      'Creates another configuration with the same settings and a new .ipynb file with the same cells, without their outputs. A name or file that exists is refused with 409.',
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
      'Replaces the cells of the notebook with those of the body, a document of at most 30 MiB. RUN allows changing only outputs; changing the code, order, number or metadata of cells requires EDIT. Outputs of cells that an unfinished instance has executed are kept as the server has them. With `revision_id`, a notebook whose cells somebody else has changed since then is refused with 409: read it again and merge the changes.',
    tag,
    access: Allow.workspace('RUN'),
    response: Responses.one(NotebookCellsWritten),
    status: 201,
    errors: [409],
    document: { maxBytes: MAX_NOTEBOOK_BYTES, maxValues: MAX_VALUES },
  })
  updateCells(
    @IdParam('notebook_conf_id') notebookConfId: number,
    @InWorkspace() scope: WorkspaceScope,
    @Query() { revision_id }: UpdateNotebookCellsQuery,
    @Body() body: UpdateNotebookCells,
  ): Promise<NotebookCellsWritten> {
    return this.cells.update(scope, notebookConfId, body.cells, revision_id);
  }
}
