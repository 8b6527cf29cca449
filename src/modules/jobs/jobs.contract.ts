export { JobClusterInfo, JobTypeRef } from './dto/job-conf.dto';
export { JobLogQuery, JobWorkflow, WorkflowErrorRead } from './dto/job.dto';
export type { Run } from './entities/run.entity';
export { clusterInfo } from './job-confs.service';
export { NOTEBOOK_LANGUAGES, type NotebookLanguage } from './job-types';
export { NotebookConfsRepository } from './job-confs.repository';
export { type AskedRun, RunParts, RunsOfKind, workflowOf } from './runs-of-kind';
export { NotebookRunsRepository, type RunDetailRow, RunsRepository } from './runs.repository';
export { isFinished, RUN_STATUSES, type RunStatus } from './run-state';
