import { Controller, Headers, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Allow } from '../../../platform/kernel/auth/access';
import type { WorkspaceScope } from '../../../platform/kernel/auth/principal';
import { InWorkspace } from '../../../platform/http/auth/request-principal';
import { Message } from '../../../platform/kernel/dto/response-fields';
import { sendContent } from '../../../platform/http/file-response';
import { Responses, Operation } from '../../../platform/http/operation';
import type { Page } from '../../../platform/kernel/dto/page';
import { FILE_SIZE_HEADER, Upload, UPLOAD_HEADERS } from '../../../platform/http/upload-body';
import {
  RelocateFileQuery,
  RenameFileQuery,
  UploadQuery,
  WorkspaceFileDownloadQuery,
  WorkspaceFileListQuery,
  WorkspaceFileRead,
  WorkspaceFileSearchQuery,
  WorkspaceFileSelector,
  WorkspaceFileUsage,
  WorkspaceFileWrite,
} from './dto/workspace-file.dto';
import { WorkspaceSelector } from './dto/workspace.dto';
import { WorkspaceFileMovesService } from './workspace-file-moves.service';
import { WorkspaceFilesService } from './workspace-files.service';

const tag = 'Workspace files';
const view = Allow.workspace('VIEW');
const edit = Allow.workspace('EDIT');
const NOTHING_IS_404 = 'If nothing is found, the response is 404.';

const INTO_DIRECTORY = 'A file whose destination is a directory goes into it, under its own name.';

@Controller()
export class WorkspaceFilesController {
  constructor(
    private readonly files: WorkspaceFilesService,
    private readonly moves: WorkspaceFileMovesService,
  ) {}

  @Operation({
    method: 'GET',
    path: '/workspace/files',
    id: 'listWorkspaceFiles',
    summary: 'List a directory of the workspace',
    description: `Returns the entries of the root, or of the directory that file_id or file_path names, with everything below it if recursive is true. ${NOTHING_IS_404}`,
    tag,
    access: view,
    response: Responses.page(WorkspaceFileRead),
  })
  list(@InWorkspace() scope: WorkspaceScope, @Query() query: WorkspaceFileListQuery): Promise<Page<WorkspaceFileRead>> {
    return this.files.list(scope, query);
  }

  @Operation({
    method: 'GET',
    path: '/workspace/files/search',
    id: 'searchWorkspaceFiles',
    summary: 'Search files by part of the name',
    description: `Returns the files and directories whose name contains the text, ignoring case. ${NOTHING_IS_404}`,
    tag,
    access: view,
    response: Responses.page(WorkspaceFileRead),
  })
  search(
    @InWorkspace() scope: WorkspaceScope,
    @Query() query: WorkspaceFileSearchQuery,
  ): Promise<Page<WorkspaceFileRead>> {
    return this.files.list(scope, query, query.file_name);
  }

  @Operation({
    method: 'POST',
    path: '/workspace/files',
    id: 'uploadWorkspaceFile',
    summary: 'Upload a file or create a directory',
    description:
      'Stores the body as a file, at `path` below `target_dir`; missing parent directories are created. An existing file is refused with 409 unless `overwrite` is true. With `unchanged_since`, a file that somebody has changed or deleted since then is refused with 409 as well, so that no edit is lost. With `is_dir`, a directory is created and the request has no body. The workspace must be enabled. An upload that is interrupted, or whose size is not the announced one, stores nothing.',
    tag,
    access: edit,
    response: Responses.one(WorkspaceFileWrite),
    errors: [409],
    binaryBody: true,
    headers: UPLOAD_HEADERS,
  })
  upload(
    @InWorkspace() scope: WorkspaceScope,
    @Query() query: UploadQuery,
    @Headers(FILE_SIZE_HEADER) size: string | undefined,
    @Req() request: Request,
  ): Promise<WorkspaceFileWrite> {
    return this.files.upload(scope, query, new Upload(request, size));
  }

  @Operation({
    method: 'GET',
    path: '/workspace/file',
    id: 'getWorkspaceFile',
    summary: 'Get a file or directory by id or path',
    description:
      'Returns one file or directory. The workspace and the file are each selected by id or by name or path.',
    tag,
    access: view,
    response: Responses.one(WorkspaceFileRead),
  })
  get(@InWorkspace() scope: WorkspaceScope, @Query() query: WorkspaceFileSelector): Promise<WorkspaceFileRead> {
    return this.files.get(scope, query);
  }

  @Operation({
    method: 'DELETE',
    path: '/workspace/file',
    id: 'deleteWorkspaceFile',
    summary: 'Delete a file, or a directory with its contents',
    description:
      'Removes the file, or the directory with everything in it. It is refused with 409 while a notebook uses it. It cannot be undone.',
    tag,
    access: edit,
    response: Responses.message,
    status: 201,
    errors: [409],
  })
  delete(@InWorkspace() scope: WorkspaceScope, @Query() query: WorkspaceFileSelector): Promise<Message> {
    return this.files.delete(scope, query);
  }

  @Operation({
    method: 'PUT',
    path: '/workspace/file/rename',
    id: 'renameWorkspaceFile',
    summary: 'Rename a file or directory',
    description:
      'Gives the file or directory another name in the same directory. A name that is taken there is refused with 409.',
    tag,
    access: edit,
    response: Responses.one(WorkspaceFileWrite),
    status: 201,
    errors: [409],
  })
  rename(@InWorkspace() scope: WorkspaceScope, @Query() query: RenameFileQuery): Promise<WorkspaceFileWrite> {
    return this.moves.rename(scope, query, query.file_name);
  }

  @Operation({
    method: 'PUT',
    path: '/workspace/file/move',
    id: 'moveWorkspaceFile',
    summary: 'Move a file, or a directory with its contents',
    description: `Moves the file or directory, which keeps its id. ${INTO_DIRECTORY}`,
    tag,
    access: edit,
    response: Responses.one(WorkspaceFileWrite),
    status: 201,
    errors: [409],
  })
  move(@InWorkspace() scope: WorkspaceScope, @Query() query: RelocateFileQuery): Promise<WorkspaceFileWrite> {
    const { destination_file_path: path, overwrite } = query;
    return this.moves.move(scope, query.source(), { path, overwrite });
  }

  @Operation({
    method: 'POST',
    path: '/workspace/file/copy',
    id: 'copyWorkspaceFile',
    summary: 'Copy a file, or a directory with its contents',
    description: `Copies the file or directory; the copies have ids of their own. ${INTO_DIRECTORY}`,
    tag,
    access: edit,
    response: Responses.one(WorkspaceFileWrite),
    errors: [409],
  })
  copy(@InWorkspace() scope: WorkspaceScope, @Query() query: RelocateFileQuery): Promise<WorkspaceFileWrite> {
    const { destination_file_path: path, overwrite } = query;
    return this.moves.copy(scope, query.source(), { path, overwrite });
  }

  @Operation({
    method: 'GET',
    path: '/workspace/file/download',
    id: 'downloadWorkspaceFile',
    summary: 'Download a file, or a directory as a zip file',
    description:
      'Sends the bytes of a file, or a zip file of a directory. The name is in the header Content-Disposition.',
    tag,
    access: view,
    response: Responses.download,
  })
  async download(
    @InWorkspace() scope: WorkspaceScope,
    @Query() query: WorkspaceFileDownloadQuery,
    @Res() response: Response,
  ): Promise<void> {
    await sendContent(response, await this.files.download(scope, query, query.redirect));
  }

  @Operation({
    method: 'GET',
    path: '/workspace/file/usage',
    id: 'getWorkspaceFileUsage',
    summary: 'Get the number and size of the files of a workspace',
    description:
      'Counts files, directories and bytes of the workspace, and returns the limit up to which files can be added.',
    tag,
    access: view,
    response: Responses.one(WorkspaceFileUsage),
  })
  usage(
    @InWorkspace() { workspace }: WorkspaceScope,
    @Query() _selector: WorkspaceSelector,
  ): Promise<WorkspaceFileUsage> {
    return this.files.usage(workspace);
  }
}
