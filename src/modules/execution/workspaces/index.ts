export { BlobUse } from './blob-use';
export { ClusterWorkspacesService, notAssociated } from './cluster-workspaces.service';
export { FileUse, type ApplyUpload, type UploadedContent, type WorkspaceFileRow } from './file-use';
export { WorkspaceFilesService } from './workspace-files.service';
export { mayRun, servesWorkspace, sharedWith, workspacesOf, workspacesSharedWith } from './workspaces.joins';
export { WorkspacesService } from './workspaces.service';
