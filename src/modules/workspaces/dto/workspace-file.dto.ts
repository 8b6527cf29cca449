import { ReadAudit, WriteAudit } from '../../../platform/http/answers';
import { Field, Param } from '../../../platform/http/fields';
import { RecordSelectorQuery } from '../../../platform/http/selector';
import { WorkspaceRef } from './workspace.dto';

/** Selects one file or directory by id or path. */
export class WorkspaceFileSelector extends RecordSelectorQuery('workspace') {
  @Param.id() file_id?: number;
  @Param.text({ description: 'Path in the workspace; a slash in front of it is its root' }) file_path?: string;
}

export class WorkspaceFileListQuery extends WorkspaceFileSelector {
  @Param.boolean({ description: 'true keeps directories only, false files only' }) is_dir?: boolean;
  @Param.boolean({ description: 'true keeps files of git repositories only, false others only' }) is_git?: boolean;
  @Param.boolean({ default: false, description: 'true lists what lies below, too' }) recursive: boolean = false;
  @Param.int32({ min: 1, max: 1000, default: 100 }) limit: number = 100;
  @Param.int32({ min: 1, default: 1 }) pageNumber: number = 1;
}

export class WorkspaceFileSearchQuery extends WorkspaceFileListQuery {
  @Param.text({ optional: false, description: 'Part of the file name, in any letter case' }) file_name: string;
}

export class UploadQuery extends RecordSelectorQuery('workspace') {
  @Param.text({ optional: false, description: 'Path of the file in the workspace' }) path: string;
  @Param.text({ description: 'Directory that the path is in' }) target_dir?: string;
  @Param.boolean({ default: false, description: 'true replaces an existing file, and admits an existing directory' })
  overwrite: boolean = false;
  @Param.boolean({ default: false, description: 'true makes a directory; the request has no body' }) is_dir: boolean =
    false;
}

export class WorkspaceFileRead extends ReadAudit {
  @Field.id() workspace_file_id: number;
  @Field.text() file_name: string;
  @Field.text() full_file_path: string;
  @Field.boolean() is_dir: boolean;
  @Field.boolean() is_git: boolean;
  @Field.int64({ nullable: true }) file_size_bytes: number | null;
  @Field.text({ nullable: true, description: 'File extension' }) file_type: string | null;
  @Field.object(() => WorkspaceRef) workspace: WorkspaceRef;
  @Field.uuid() tenant_id: string;
}

export class WorkspaceFileWrite extends WriteAudit {
  @Field.idText() workspace_file_id: string;
  @Field.text() file_name: string;
  @Field.text() full_file_path: string;
  @Field.boolean() is_dir: boolean;
  @Field.boolean() is_git: boolean;
  @Field.int64({ nullable: true }) file_size_bytes: number | null;
  @Field.text({ nullable: true }) file_type: string | null;
  @Field.idText() workspace_id: string;
  @Field.uuid() tenant_id: string;
}

export class WorkspaceFileUsage {
  @Field.id() workspace_id: number;
  @Field.int64() file_count: number;
  @Field.int64() directory_count: number;
  @Field.int64() total_size_bytes: number;
  @Field.int64({ nullable: true, description: 'Null when there is no limit' }) limit_size_bytes: number | null;
}
