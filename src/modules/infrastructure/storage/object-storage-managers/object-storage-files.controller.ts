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
    summary: 'List the root or a directory; above 10000 files, total_objects is a lower bound',
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
    summary: 'Search files by part of the name, in a directory of at most 100000 files',
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
    tag,
    access: Allow.tenant(),
    response: Responses.binary,
  })
  async download(
    @CurrentScope() scope: TenantScope,
    @Query() query: ObjectStorageFileSelector,
    @Res() response: Response,
  ): Promise<void> {
    await sendContent(response, await this.files.download(scope, query));
  }
}
