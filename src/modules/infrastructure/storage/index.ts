export { checkPackages, checkRepositories, repositoryUrl } from './dependency-repositories/dependencies';
export { DependencyRepositoriesService } from './dependency-repositories/dependency-repositories.service';
export { HasLogs } from './logs/log-owner-tables';
export { LogsService } from './logs/logs.service';
export { AttachedMountsService } from './mounts/attached-mounts.service';
export { type AttachedMount, MountUse } from './mounts/mount-use';
export { MountRead } from './mounts/mounts';
export { MountsService } from './mounts/mounts.service';
export { ObjectStorageFilesService } from './object-storage-managers/object-storage-files.service';
export {
  fileRoot,
  type ObjectStorageManagerData,
  objectStorageManagerJoins,
  objectStorageManagerJson,
  objectStorageManagerRef,
  ObjectStorageManagerRef,
} from './object-storage-managers/object-storage-managers.joins';
export { ObjectStorageManagersService } from './object-storage-managers/object-storage-managers.service';
