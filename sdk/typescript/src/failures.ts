// Runs, clusters, statements and cells that fail although every request succeeded.
import { ManagedSparkError } from './errors.ts';
import { REMEDIES } from './generated/remedies.ts';

interface EndedRun {
  kind: 'Job' | 'Notebook';
  /** Id of the job, or of the notebook's instance. */
  id: number;
  status: string;
  code: string | null;
  reason: string | null;
  logUrl: string;
}

/** A run of a job did not end as DONE, or an instance of a notebook ended before its kernel ran. */
export class RunFailed extends ManagedSparkError {
  override name = 'RunFailed';
  readonly id: number;
  readonly status: string;
  /** The reason code, such as PYTHON_ERROR. */
  readonly code: string | null;
  readonly reason: string;
  /** A remedy, if one is known for the code. */
  readonly remedy: string | undefined;
  readonly logUrl: string;

  constructor({ kind, id, status, code, reason, logUrl }: EndedRun) {
    const why = reason ?? `The run ended as ${status}.`;
    const remedy = REMEDIES[code ?? ''];
    super([`${kind} ${id} is ${status}: ${sentence(why)}`, remedy].filter((part) => part !== undefined).join(' '));
    this.id = id;
    this.status = status;
    this.code = code;
    this.reason = why;
    this.remedy = remedy;
    this.logUrl = logUrl;
  }
}

/** A cluster did not reach the status that was waited for. */
export class ClusterFailed extends ManagedSparkError {
  override name = 'ClusterFailed';
  readonly id: number;
  readonly status: string;
  readonly reason: string | null;

  constructor(id: number, status: string, reason: string | null) {
    super(`Cluster ${id} is ${status}: ${reason ?? 'it gave no reason'}`);
    this.id = id;
    this.status = status;
    this.reason = reason;
  }
}

/** Start of the stack traces that an SQL server appends to the message of a failed statement. */
const STACK_FRAME = /\n\s*(?:at [\w.$]+[./]|Driver stacktrace:|Caused by: )/;
/** Its own class and words before the message of Spark. */
const SERVER_PREFIX = /^org\.apache\.hive\.service\.cli\.HiveSQLException: (?:Error running query: )?/;

/** A statement is not valid or failed, or the SQL server ended meanwhile. */
export class SqlFailed extends ManagedSparkError {
  override name = 'SqlFailed';
  /** The SQLSTATE, such as 42703; empty if there is none. */
  readonly sqlState: string;
  /** The whole message of the server, which may have stack traces. */
  readonly details: string;

  constructor(details: string, sqlState: string) {
    const [reason = ''] = details.split(STACK_FRAME, 1);
    super(reason.replace(SERVER_PREFIX, '').trim() || details);
    this.details = details;
    this.sqlState = sqlState;
  }
}

/** The code of a cell raised an exception. */
export class CellFailed extends ManagedSparkError {
  override name = 'CellFailed';
  /** The class of the exception. */
  readonly type: string;
  readonly value: string;
  readonly traceback: string[];

  constructor(type: string, value: string, traceback: string[]) {
    super(`${type}: ${value}`);
    this.type = type;
    this.value = value;
    this.traceback = traceback;
  }
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
