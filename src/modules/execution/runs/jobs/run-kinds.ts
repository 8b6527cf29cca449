import type { WorkspaceScope } from '../../../../platform/kernel/auth/principal';
import type { RecordKindNames } from '../../../../platform/http/resources/record-kind';
import type { JobSettings } from './dto/job-conf.dto';
import type { JobLanguage, NotebookLanguage, RunResource } from './job-types';
import type { RunningOnce } from './run-state';
import { assertFiles, checkJobSettings } from './settings-check';

/** Everything in which one kind of run differs from the others (ADR 0063). */
export interface RunKind {
  /** What users know it as: jobs and notebooks have names, ids and lists of their own. */
  readonly resource: RunResource;
  /** The `job_type` of its configurations. */
  readonly jobType: string;
  /** What messages call its runs, and the beginning of their error codes. */
  readonly run: RecordKindNames & { readonly code: 'JOB' | 'NOTEBOOK' };
  /** The same for its configurations, with the word that they use for their runs. */
  readonly configuration: RecordKindNames & { readonly code: 'JOB_CONF' | 'NOTEBOOK_CONF'; readonly runs: string };
  /** Throws a 400 for settings that a configuration of the language cannot have. */
  readonly check: (language: JobLanguage | NotebookLanguage, settings: Required<JobSettings>) => void;
  readonly runningOnce: RunningOnce;
  /** Whether everybody who may run things in the workspace can send it requests. It then has no secrets of a user. */
  readonly isInteractive: boolean;
  /** What its process serves to callers; null for a kind that cannot be called. */
  readonly service: RunService | null;
}

interface RunService {
  readonly name: string;
  /** Code of the 400 for a run that serves something else. */
  readonly absentCode: string;
  /** Code and words of the 409 for a run that is not RUNNING. */
  readonly notRunningCode: string;
  readonly notRunning: string;
  /** Why the run is RUNNING, for its history. */
  readonly ready: string;
}

/** A kind whose runs are called. */
export type ServingKind = RunKind & { readonly service: RunService };

export const JOB: RunKind = {
  resource: 'job',
  jobType: 'SPARK_JOB',
  run: { code: 'JOB', label: 'job' },
  configuration: { code: 'JOB_CONF', label: 'job configuration', runs: 'jobs' },
  check: (language, settings) => checkJobSettings(language as JobLanguage, settings),
  runningOnce: 'running',
  isInteractive: false,
  service: null,
};

export const NOTEBOOK: RunKind = {
  resource: 'notebook',
  jobType: 'NOTEBOOK',
  run: { code: 'NOTEBOOK', label: 'notebook' },
  configuration: { code: 'NOTEBOOK_CONF', label: 'notebook configuration', runs: 'instances' },
  check: (_language, settings) => assertFiles(settings),
  // Clients wait for its kernel, which begins after that.
  runningOnce: 'accepted',
  isInteractive: true,
  service: null,
};

export const FUNCTION: ServingKind = {
  ...JOB,
  jobType: 'PLATFORM_FUNCTIONS',
  runningOnce: 'ready',
  isInteractive: true,
  service: {
    name: 'a function',
    absentCode: 'FUNCTION.NOT_A_FUNCTION',
    notRunningCode: 'FUNCTION.NOT_RUNNING',
    notRunning: 'a function can be called only while its job is RUNNING',
    ready: 'The function can be called',
  },
};

export const SQL_SERVER: ServingKind = {
  ...JOB,
  jobType: 'THRIFT_SQL',
  runningOnce: 'ready',
  isInteractive: true,
  service: {
    name: 'SQL',
    absentCode: 'THRIFT.NO_SERVER',
    notRunningCode: 'THRIFT.NOT_RUNNING',
    notRunning: 'it serves SQL only while it is RUNNING',
    ready: 'SQL is served',
  },
};

/** The kind of the runs of a `job_type`. */
export function runKindOf(jobType: string): RunKind {
  return [NOTEBOOK, FUNCTION, SQL_SERVER].find((kind) => kind.jobType === jobType) ?? JOB;
}

/** A workspace as one resource sees it: records of the other resource do not exist there. */
export interface KindScope extends WorkspaceScope {
  readonly kind: RunKind;
}
