import { IntersectionType } from '@nestjs/swagger';
import { invalid } from '../../../../platform/kernel/errors/domain-error';
import { ReadAudit, WriteAudit } from '../../../../platform/kernel/dto/response-fields';
import { DownloadQuery } from '../../../../platform/kernel/dto/download';
import { Field, Param } from '../../../../platform/kernel/dto/fields';
import { About } from '../../../../platform/kernel/dto/schemas';
import { RecordSelectorQuery } from '../../../../platform/kernel/dto/selector';
import { WorkspaceRef } from './workspace.dto';

export class WorkspaceFileSelector extends RecordSelectorQuery('workspace') {
  @Param.id() file_id?: number;
  @Param.text({ description: 'Path in the workspace, with or without a leading slash' }) file_path?: string;
}

export class WorkspaceFileDownloadQuery extends IntersectionType(WorkspaceFileSelector, DownloadQuery) {}

export class WorkspaceFileListQuery extends WorkspaceFileSelector {
  @Param.boolean({ description: 'true lists only directories, false only files' }) is_dir?: boolean;
  @Param.boolean({ description: 'true lists only files of git repositories, false only others' }) is_git?: boolean;
  @Param.boolean({ default: false, description: 'true also lists everything below' }) recursive: boolean = false;
  @Param.int32({ min: 1, max: 1000, default: 100, description: 'Records per page, at most 1000' }) limit: number = 100;
  @Param.int32({ min: 1, default: 1 }) pageNumber: number = 1;
}

export class WorkspaceFileSearchQuery extends WorkspaceFileListQuery {
  @Param.text({ optional: false, description: 'Part of the file name, ignoring case' }) file_name: string;
}

export class UploadQuery extends RecordSelectorQuery('workspace') {
  @Param.text({ optional: false, description: 'Path of the file in the workspace' }) path: string;
  @Param.text({ description: 'Directory that the path is relative to' }) target_dir?: string;
  @Param.boolean({ default: false, description: 'true replaces an existing file, and accepts an existing directory' })
  overwrite: boolean = false;
  @Param.boolean({ default: false, description: 'true creates a directory; the request has no body' }) is_dir: boolean =
    false;
  @Param.timestamp({
    description:
      'The last_update_date that you have read; if the file was changed since, the request is refused with 409',
  })
  unchanged_since?: Date;
}

export class RenameFileQuery extends WorkspaceFileSelector {
  @Param.text({ optional: false, maxLength: 255, description: 'The new name, without a slash' }) file_name: string;
}

export class RelocateFileQuery extends RecordSelectorQuery('workspace') {
  @Param.id({ description: 'Id of the file or directory, instead of source_file_path' }) source_file_id?: number;
  @Param.text({ description: 'Path in the workspace, with or without a leading slash' }) source_file_path?: string;
  @Param.text({ optional: false, description: 'The new path; missing parent directories are created' })
  destination_file_path: string;
  @Param.boolean({ default: false, description: 'true replaces a file by a file, or a whole directory by a directory' })
  overwrite: boolean = false;

  source(): { file_id?: number; file_path?: string } {
    if (this.source_file_id === undefined && this.source_file_path === undefined) {
      throw invalid('REQUEST.SELECTOR_MISSING', 'One of source_file_id or source_file_path is required.');
    }
    return { file_id: this.source_file_id, file_path: this.source_file_path };
  }
}

@About('A file or directory of a workspace.')
export class WorkspaceFileRead extends ReadAudit {
  @Field.id({ description: 'Id of the file or directory. A move or rename keeps it' }) workspace_file_id: number;
  @Field.text({ description: 'Name of the file or directory, without its path' }) file_name: string;
  @Field.text({ description: 'Path from the root of the workspace, with a leading slash' }) full_file_path: string;
  @Field.boolean() is_dir: boolean;
  @Field.boolean({ description: 'True if the file belongs to a Git repository' }) is_git: boolean;
  @Field.int64({ nullable: true, description: 'Size in bytes; null for a directory' }) file_size_bytes: number | null;
  @Field.text({ nullable: true, description: 'File extension; null for a directory, and for a file without one' })
  file_type: string | null;
  @Field.object(() => WorkspaceRef) workspace: WorkspaceRef;
  @Field.uuid() tenant_id: string;
}

@About('A file or directory of a workspace as returned by a write. Ids are decimal strings.')
export class WorkspaceFileWrite extends WriteAudit {
  @Field.idText({ description: 'Id of the file or directory. A move or rename keeps it' }) workspace_file_id: string;
  @Field.text({ description: 'Name of the file or directory, without its path' }) file_name: string;
  @Field.text({ description: 'Path from the root of the workspace, with a leading slash' }) full_file_path: string;
  @Field.boolean() is_dir: boolean;
  @Field.boolean({ description: 'True if the file belongs to a Git repository' }) is_git: boolean;
  @Field.int64({ nullable: true, description: 'Size in bytes; null for a directory' }) file_size_bytes: number | null;
  @Field.text({ nullable: true, description: 'File extension; null for a directory, and for a file without one' })
  file_type: string | null;
  @Field.idText() workspace_id: string;
  @Field.uuid() tenant_id: string;
}

@About('How much space the files of a workspace take.')
export class WorkspaceFileUsage {
  @Field.id() workspace_id: number;
  @Field.int64({ description: 'Number of files' }) file_count: number;
  @Field.int64({ description: 'Number of directories' }) directory_count: number;
  @Field.int64({ description: 'Size of all files in bytes' }) total_size_bytes: number;
  @Field.int64({
    nullable: true,
    description: 'Size in bytes up to which files can be added; null if there is no limit',
  })
  limit_size_bytes: number | null;
}
