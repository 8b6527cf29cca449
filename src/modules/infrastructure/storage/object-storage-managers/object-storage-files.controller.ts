import { Controller, Headers, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Allow } from '../../../../platform/kernel/auth/access';
import type { TenantScope } from '../../../../platform/kernel/auth/principal';
import { CurrentScope } from '../../../../platform/http/auth/request-principal';
import { EVERY_TENANT_ROLE } from '../../../../platform/kernel/auth/roles';
import { Message } from '../../../../platform/kernel/dto/response-fields';
import { sendContent } from '../../../../platform/http/file-response';
import { Responses, Operation } from '../../../../platform/http/operation';
import type { Page } from '../../../../platform/kernel/dto/page';
import { FILE_SIZE_HEADER, Upload, UPLOAD_HEADERS } from '../../../../platform/http/upload-body';
import {
  ObjectStorageDownloadQuery,
  ObjectStorageFileListQuery,
  ObjectStorageFileRead,
  ObjectStorageFileSearchQuery,
  ObjectStorageFileSelector,
  ObjectStorageFileWrite,
  ObjectStorageUploadQuery,
} from './dto/object-storage-file.dto';
import { ObjectStorageFilesService } from './object-storage-files.service';

const tag = 'Object storage';

@Controller()
export class ObjectStorageFilesController {
  constructor(private readonly files: ObjectStorageFilesService) {}

  @Operation({
    method: 'GET',
    path: '/object_storage_manager/files',
    id: 'listObjectStorageFiles',
    summary: 'List the root or a directory; above 10,000 files, total_objects is a lower bound',
    description:
      'Returns what the bucket has now, at its root or in the directory that file_id or file_path names. For a file, the list has only the file itself. Above 10,000 files, total_objects is a lower bound.',
    tag,
    access: Allow.tenant(),
    response: Responses.page(ObjectStorageFileRead),
  })
  list(
    @CurrentScope() scope: TenantScope,
    @Query() query: ObjectStorageFileListQuery,
  ): Promise<Page<ObjectStorageFileRead>> {
    return this.files.list(scope, query);
  }

  @Operation({
    method: 'GET',
    path: '/object_storage_manager/files/search',
    id: 'searchObjectStorageFiles',
    summary: 'Search files by part of the name, in a directory of at most 100,000 files',
    description:
      'Returns the files and directories whose name contains the text, ignoring case. A directory of more than 100,000 files is refused.',
    tag,
    access: Allow.tenant(),
    response: Responses.page(ObjectStorageFileRead),
  })
  search(
    @CurrentScope() scope: TenantScope,
    @Query() query: ObjectStorageFileSearchQuery,
  ): Promise<Page<ObjectStorageFileRead>> {
    return this.files.list(scope, query, query.file_name);
  }

  @Operation({
    method: 'POST',
    path: '/object_storage_manager/files',
    id: 'uploadObjectStorageFile',
    summary: 'Upload a file or create a directory',
    description:
      'Stores the body as a file, at `path` below `target_dir`. An existing file is refused with 409 unless `overwrite` is true. With `is_dir`, a directory is created and the request has no body. An upload that is interrupted, or whose size is not the announced one, stores nothing.',
    tag,
    access: Allow.tenant(EVERY_TENANT_ROLE),
    response: Responses.one(ObjectStorageFileWrite),
    errors: [409],
    binaryBody: true,
    headers: UPLOAD_HEADERS,
  })
  upload(
    @CurrentScope() scope: TenantScope,
    @Query() query: ObjectStorageUploadQuery,
    @Headers(FILE_SIZE_HEADER) size: string | undefined,
    @Req() request: Request,
  ): Promise<ObjectStorageFileWrite> {
    return this.files.upload(scope, query, new Upload(request, size));
  }

  @Operation({
    method: 'GET',
    path: '/object_storage_manager/file',
    id: 'getObjectStorageFile',
    summary: 'Get a file or directory by id or path',
    description:
      'Returns one file or directory as the bucket has it now. The manager and the file are each selected by id or by name or path.',
    tag,
    access: Allow.tenant(),
    response: Responses.one(ObjectStorageFileRead),
  })
  get(@CurrentScope() scope: TenantScope, @Query() query: ObjectStorageFileSelector): Promise<ObjectStorageFileRead> {
    return this.files.get(scope, query);
  }

  @Operation({
    method: 'DELETE',
    path: '/object_storage_manager/file',
    id: 'deleteObjectStorageFile',
    summary: 'Delete a file, or a directory with its contents',
    description: 'Removes the file from the bucket, or the directory with everything in it. It cannot be undone.',
    tag,
    access: Allow.tenant(EVERY_TENANT_ROLE),
    response: Responses.message,
    status: 201,
  })
  delete(@CurrentScope() scope: TenantScope, @Query() query: ObjectStorageFileSelector): Promise<Message> {
    return this.files.delete(scope, query);
  }

  @Operation({
    method: 'GET',
    path: '/object_storage_manager/file/download',
    id: 'downloadObjectStorageFile',
    summary: 'Download a file, or a directory as a zip file',
    description:
      'Sends the bytes of a file, or a zip file of a directory. The name is in the header Content-Disposition.',
    tag,
    access: Allow.tenant(),
    response: Responses.download,
  })
  async download(
    @CurrentScope() scope: TenantScope,
    @Query() query: ObjectStorageDownloadQuery,
    @Res() response: Response,
  ): Promise<void> {
    await sendContent(response, await this.files.download(scope, query));
  }
}
