export {
  checkLabels,
  type CloudEnvData,
  cloudEnvInfo,
  CloudEnvInfo,
  cloudEnvJoins,
  cloudEnvJson,
  LOCAL_ENDPOINT,
  MAX_LABELS,
  reservedLabels,
  withoutReserved,
} from './cloud-environments/cloud-envs.joins';
export { CloudEnvsService } from './cloud-environments/cloud-envs.service';
export { EnvironmentSparksService } from './cloud-environments/environment-sparks.service';
export { LocalConfinementService } from './cloud-environments/local-confinement.service';
export { LocalFolderService } from './cloud-environments/local-folder.service';
export { OnPremNodesService } from './cloud-environments/onprem-nodes.service';
export {
  type ClusterConfData,
  clusterConfJoins,
  clusterConfJson,
  clusterConfRef,
  ClusterConfRef,
  machineTypeOf,
} from './cluster-configurations/cluster-confs.joins';
export { ClusterConfsService } from './cluster-configurations/cluster-confs.service';
export {
  credentialConfRef,
  CredentialConfRef,
  type CredentialsConfData,
  credentialsConfJson,
  CredentialTypeRef,
} from './credentials/credentials-confs';
export { CredentialsConfsService } from './credentials/credentials-confs.service';
export { diskViolation, type DiskShape, diskSize, keptShape, type VolumeData } from './volumes/volume-confs';
