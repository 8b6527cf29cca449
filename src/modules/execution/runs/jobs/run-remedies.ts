import type { ReasonCode } from './reason-codes';

/** Advice about the end of a run, for the reasons that have an answer. The reason in words often says more. */
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

/** Returns what to do about a run that ended for this reason; null if there is nothing to do, or nothing to say. */
export function remedyOf(code: string | null): string | null {
  return code === null ? null : ((REMEDIES as Readonly<Record<string, string | null>>)[code] ?? null);
}
