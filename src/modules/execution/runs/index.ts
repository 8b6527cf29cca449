export { FrameConsumer, type FramedRun } from './channels/frame-consumer';
export { type FramesBehind, RunChannelsService } from './channels/run-channels.service';
export { assertFiles, ConfParts, ConfsOfKind } from './jobs/confs-of-kind';
export {
  JobClusterInfo,
  JobConfExport,
  JobSettings,
  JobTypeRef,
  SETTING_NAMES,
  settingsOf,
} from './jobs/dto/job-conf.dto';
export { JobLogQuery, JobWorkflow, WorkflowErrorRead } from './jobs/dto/job.dto';
export type { JobConf } from './jobs/entities/job-conf.entity';
export type { Run } from './jobs/entities/run.entity';
export { InstanceUse } from './jobs/instance-use';
export { exportJobConf, readJobConf, withoutSecrets } from './jobs/job-conf-documents';
export {
  type ImportedJobConf,
  type JobConfRow,
  JobConfsRepository,
  NotebookConfsRepository,
} from './jobs/job-confs.repository';
export { checkSettings, clusterInfo, JobConfsService } from './jobs/job-confs.service';
export { type JobLanguage, NOTEBOOK_LANGUAGES, type NotebookLanguage } from './jobs/job-types';
export { RunReportsService } from './jobs/run-reports.service';
export { isFinished, RUN_STATUSES, type RunStatus } from './jobs/run-state';
export { RunParts, RunsOfKind, workflowOf } from './jobs/runs-of-kind';
export { NotebookRunsRepository, type RunDetailRow } from './jobs/runs.repository';
