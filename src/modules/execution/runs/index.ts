export { FrameConsumer, type FramedRun } from './channels/frame-consumer';
export { type FramePage, RunChannelsService } from './channels/run-channels.service';
export {
  JobClusterInfo,
  JobConfExport,
  JobSettings,
  JobSettingsAnswer,
  JobTypeRef,
  SETTING_NAMES,
  settingsOf,
} from './jobs/dto/job-conf.dto';
export { JobLogQuery, JobWorkflow, RunRead, WorkflowErrorRead } from './jobs/dto/job.dto';
export type { RunConfiguration } from './jobs/entities/run-configuration.entity';
export type { Run } from './jobs/entities/run.entity';
export { InstanceUse } from './jobs/instance-use';
export { exportJobConf, readJobConf, withoutSecrets } from './jobs/job-conf-documents';
export { clusterInfo } from './jobs/job-confs.service';
export {
  JOB_TYPE_RULES,
  type JobLanguage,
  NOTEBOOK_LANGUAGES,
  type NotebookLanguage,
  RUN_RESOURCES,
} from './jobs/job-types';
export type { ConfigurationValues, RunConfigurationRow } from './jobs/run-configurations.repository';
export { RunConfigurationsService } from './jobs/run-configurations.service';
export { JOB, NOTEBOOK } from './jobs/run-kinds';
export { RunReportsService } from './jobs/run-reports.service';
export { REASON_CODES } from './jobs/reason-codes';
export { isFinished, RUN_STATUSES, type RunStatus } from './jobs/run-state';
export type { RunDetailRow } from './jobs/runs.repository';
export { RunsService, workflowOf, workflowRef } from './jobs/runs.service';
export { assertFiles, checkJobSettings } from './jobs/settings-check';
