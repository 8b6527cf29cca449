import { RUN_REASONS } from '../../../../../libs/contracts/agent-protocol';
import { nameEnum } from '../../../../platform/kernel/dto/named-enums';

/** Codes for why a run ended: those of agents, and those of runs that the platform ends before they have a driver. */
const CODES = [
  ...RUN_REASONS,
  'CLUSTER_STOPPED',
  'CLUSTER_FAILED',
  'CLUSTER_DESTROYED',
  'SUBMITTER_DISABLED',
  'SUBMITTER_NOT_ALLOWED',
] as const;
export type ReasonCode = (typeof CODES)[number];

/** Advice about each end of a run; null if there is nothing to do. The reason in words often says more. The SDKs take it from the document. */
const REMEDIES: Readonly<Record<ReasonCode, string | null>> = {
  COMPLETED: null,
  STOP_REQUESTED: null,
  APPLICATION_FAILED: 'Read the stderr log.',
  PYTHON_ERROR: 'Read the traceback in the log that the reason names.',
  SQL_ERROR: 'Correct the statement that the reason quotes.',
  CLASS_NOT_FOUND: 'Check class_name, jars and packages.',
  DEPENDENCY_UNRESOLVED: 'Check the coordinates in packages, and that the node may reach the repositories.',
  ACCESS_DENIED: 'Check the credentials of the mount or catalog.',
  FILE_NOT_FOUND: 'Check command, files and jars, and upload the file again.',
  NOT_AN_ARCHIVE: 'Upload the archive again.',
  TIMEOUT: 'Raise job_timeout_min.',
  OUT_OF_MEMORY: 'Raise driver_memory, or collect less data on the driver.',
  EXECUTOR_OUT_OF_MEMORY: 'Raise executor_memory, or divide the data into more partitions.',
  SIGNALLED: 'Read the stderr log. If it ends suddenly, raise driver_memory.',
  SUBMIT_FAILED: 'Read the stderr log, and check conf.',
  STAGING_FAILED: 'Check files, jars and archives, and run the job again.',
  LEASE_EXPIRED: 'Run the job again.',
  NODE_LOST: 'Run the job again.',
  NODE_STOPPED: 'Start the cluster, and run the job again.',
  SPOT_INTERRUPTED: 'Run the job again, or without spot instances if it must not be interrupted.',
  AGENT_ERROR: 'Run the job again. Tell the operator if it happens again.',
  CLUSTER_STOPPED: 'Run the job again; that starts the cluster.',
  CLUSTER_FAILED: 'Read the state history of the cluster, and start it again.',
  CLUSTER_DESTROYED: 'Name another cluster in the configuration.',
  SUBMITTER_DISABLED: 'Submit the job as another user.',
  SUBMITTER_NOT_ALLOWED: 'Submit the job as a user who has RUN on the workspace.',
};

export const REASON_CODES = nameEnum(
  'ReasonCode',
  CODES,
  'Why a job or a notebook instance ended. `reason` explains it in a sentence. Later releases may add values.',
  {
    COMPLETED: 'the program succeeded',
    APPLICATION_FAILED: 'the program failed; no more specific cause is known',
    PYTHON_ERROR: 'the Python program raised an exception',
    SQL_ERROR: 'a SQL statement is wrong or failed',
    CLASS_NOT_FOUND: 'no jar has the main class',
    DEPENDENCY_UNRESOLVED: 'a package was not found, or its repository could not be reached',
    ACCESS_DENIED: 'a store refused the credentials',
    FILE_NOT_FOUND: 'a file of the job does not exist',
    NOT_AN_ARCHIVE: 'a file of the job is not an archive, although its name says so',
    TIMEOUT: 'the job took longer than `job_timeout_min`',
    STOP_REQUESTED: 'a user stopped or killed it',
    OUT_OF_MEMORY: 'the driver needed more memory than `driver_memory`',
    EXECUTOR_OUT_OF_MEMORY: 'an executor needed more memory than `executor_memory`',
    SIGNALLED: 'a signal that no user sent ended the driver',
    SUBMIT_FAILED: 'Spark could not start the driver',
    STAGING_FAILED: 'the files of the job did not reach the node',
    LEASE_EXPIRED: 'the node lost contact with the platform until its lease expired, and ended its jobs',
    NODE_LOST: 'the platform lost contact with the node',
    NODE_STOPPED: 'the node was stopped',
    SPOT_INTERRUPTED: 'the provider reclaimed the spot machine',
    AGENT_ERROR: 'the agent of the node failed',
    CLUSTER_STOPPED: 'the cluster was stopped while the job waited',
    CLUSTER_FAILED: 'the cluster failed while the job waited',
    CLUSTER_DESTROYED: 'the cluster was destroyed while the job waited',
    SUBMITTER_DISABLED: 'the account of the submitter was disabled before the job started',
    SUBMITTER_NOT_ALLOWED: 'the submitter lost the right to run jobs in the workspace before the job started',
  },
  REMEDIES,
);

/** Returns what to do about a run that ended for this reason; null if there is nothing to do, or nothing to say. */
export function remedyOf(code: string | null): string | null {
  return code === null ? null : ((REMEDIES as Readonly<Record<string, string | null>>)[code] ?? null);
}
