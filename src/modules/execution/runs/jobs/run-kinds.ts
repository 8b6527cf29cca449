import type { WorkspaceScope } from '../../../../platform/kernel/auth/principal';
import type { RecordKindNames } from '../../../../platform/http/resources/record-kind';
import type { JobSettings } from './dto/job-conf.dto';
import type { JobLanguage, NotebookLanguage, RunResource } from './job-types';
import type { RunningOnce } from './run-state';
import { assertFiles, checkJobSettings } from './settings-check';

/** Everything in which the kinds of runs differ (ADR 0063). */
export interface RunKind {
  /** The resource in the API: jobs and notebooks have separate names, ids and lists. */
  readonly resource: RunResource;
  readonly jobType: string;
  /** The label of its runs in messages, and the prefix of their error codes. */
  readonly run: RecordKindNames & { readonly code: 'JOB' | 'NOTEBOOK' };
  /** The same for its configurations, with the plural that their messages use for runs. */
  readonly configuration: RecordKindNames & { readonly code: 'JOB_CONF' | 'NOTEBOOK_CONF'; readonly runs: string };
  /** Throws a 400 for settings that are invalid for the language. */
  readonly check: (language: JobLanguage | NotebookLanguage, settings: Required<JobSettings>) => void;
  readonly runningOnce: RunningOnce;
  /** True if everybody with RUN on the workspace can send it requests. Such a run has no secrets of a user. */
  readonly isInteractive: boolean;
  /** The service that its process offers to callers; null if it cannot be called. */
  readonly service: RunService | null;
}

interface RunService {
  readonly name: string;
  /** Error code of the 400 for a run that does not offer the service. */
  readonly absentCode: string;
  /** Error code and message of the 409 for a run that is not RUNNING. */
  readonly notRunningCode: string;
  readonly notRunning: string;
  /** The reason of the RUNNING state in the history. */
  readonly ready: string;
}

/** A kind whose runs can be called. */
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
  // RUNNING early, so that clients can connect; they then wait for the kernel.
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
    ready: 'The function accepts calls',
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
    notRunning: 'it accepts SQL clients only while it is RUNNING',
    ready: 'The SQL server accepts clients',
  },
};

export function runKindOf(jobType: string): RunKind {
  return [NOTEBOOK, FUNCTION, SQL_SERVER].find((kind) => kind.jobType === jobType) ?? JOB;
}

/** A workspace restricted to one resource: queries do not see records of the other one. */
export interface KindScope extends WorkspaceScope {
  readonly kind: RunKind;
}
