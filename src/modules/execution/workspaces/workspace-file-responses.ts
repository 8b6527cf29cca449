import type { WorkspaceContext } from '../../../platform/kernel/auth/principal';
import { fileType } from '../../../platform/kernel/files/file-path';
import { idText, readAudit, writeAudit } from '../../../platform/kernel/dto/response-fields';
import type { WorkspaceFileRead, WorkspaceFileWrite } from './dto/workspace-file.dto';
import type { WorkspaceFileRow } from './workspace-files.repository';

/** Returns a file in the form of read operations. */
export function readFile(row: WorkspaceFileRow, workspace: WorkspaceContext): WorkspaceFileRead {
  return {
    workspace_file_id: row.workspace_file_id,
    ...own(row),
    workspace: { workspace_id: workspace.workspaceId, name: workspace.name, description: workspace.description },
    ...readAudit(row),
  };
}

/** Returns a file in the form of write operations. */
export function writeFile(row: WorkspaceFileRow): WorkspaceFileWrite {
  return {
    workspace_file_id: idText(row.workspace_file_id),
    ...own(row),
    workspace_id: idText(row.workspace_id),
    ...writeAudit(row),
  };
}

function own(row: WorkspaceFileRow) {
  return {
    file_name: row.name,
    full_file_path: row.path,
    is_dir: row.is_dir,
    is_git: false,
    file_size_bytes: row.size_bytes,
    file_type: row.is_dir ? null : fileType(row.name),
    tenant_id: row.tenant_id,
  };
}
