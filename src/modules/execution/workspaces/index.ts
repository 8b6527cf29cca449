export { BlobUse } from './blob-use';
export { servesWorkspace } from './cluster-workspaces.repository';
export { ClusterWorkspacesService, notAssociated } from './cluster-workspaces.service';
export { FileUse, type TakesIn, type UploadedContent, type WorkspaceFileRow } from './file-use';
export { WorkspaceFilesService } from './workspace-files.service';
export { mayRun, sharedWith } from './workspaces.repository';
export { WorkspacesService } from './workspaces.service';
