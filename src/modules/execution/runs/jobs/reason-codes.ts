import { RUN_REASONS } from '../../../../../libs/contracts/agent-protocol';
import { nameEnum } from '../../../../platform/kernel/dto/named-enums';

/** Codes for why a run ended: those of agents, and those of runs that the platform ends before they have a driver. */
export const REASON_CODES = nameEnum(
  'ReasonCode',
  [
    ...RUN_REASONS,
    'CLUSTER_STOPPED',
    'CLUSTER_FAILED',
    'CLUSTER_DESTROYED',
    'SUBMITTER_DISABLED',
    'SUBMITTER_NOT_ALLOWED',
  ],
  'Why a job or a notebook instance ended. `reason` says it in a sentence. Later releases may add values.',
  {
    COMPLETED: 'the program ended well',
    APPLICATION_FAILED: 'the program failed; the cause is not known more closely',
    PYTHON_ERROR: 'the Python program raised an exception',
    SQL_ERROR: 'a SQL statement is wrong or failed',
    CLASS_NOT_FOUND: 'no jar has the main class',
    DEPENDENCY_UNRESOLVED: 'a package was not found or not reached',
    ACCESS_DENIED: 'a store refused the credentials',
    FILE_NOT_FOUND: 'a file of the job does not exist',
    NOT_AN_ARCHIVE: 'a file of the job is not the archive that its name says',
    TIMEOUT: 'the job took longer than `job_timeout_min`',
    STOP_REQUESTED: 'a user stopped or killed it',
    OUT_OF_MEMORY: 'the driver needed more memory than `driver_memory`',
    EXECUTOR_OUT_OF_MEMORY: 'an executor needed more memory than `executor_memory`',
    SIGNALLED: 'a signal that no user sent ended the driver',
    SUBMIT_FAILED: 'Spark could not start the driver',
    STAGING_FAILED: 'the files of the job did not reach the node',
    LEASE_EXPIRED: 'the node did not hear the platform for the time of its lease, and ended its jobs',
    NODE_LOST: 'the platform did not hear the node any more',
    NODE_STOPPED: 'the node was stopped',
    SPOT_INTERRUPTED: 'the provider took the machine back',
    AGENT_ERROR: 'the agent of the node failed',
    CLUSTER_STOPPED: 'the cluster was stopped while the job waited',
    CLUSTER_FAILED: 'the cluster failed while the job waited',
    CLUSTER_DESTROYED: 'the cluster was destroyed while the job waited',
    SUBMITTER_DISABLED: 'the account of the submitter was disabled before the job started',
    SUBMITTER_NOT_ALLOWED: 'the submitter lost the right to run jobs in the workspace before the job started',
  },
);
export type ReasonCode = (typeof REASON_CODES)[number];
