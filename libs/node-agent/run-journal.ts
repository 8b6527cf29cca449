import type { RunOutcome, RunReason, RunReport, RunState } from '../contracts/agent-protocol';
import { readJson } from './files';

/** The reason why the agent stops a run. */
export type StopCause = 'stop' | 'timeout' | 'lease' | 'node-stop' | 'interruption';

/** Sequence number beyond any that a run reaches, for reports made without its journal. */
export const LOST_SEQ = 1_000_000;

/** The saved state of a run, with which a restarted agent continues it. */
export interface RunJournal {
  run_id: string;
  correlation_id: string;
  seq: number;
  state: RunState;
  application_id: string | null;
  pid: number | null;
  /** Index of the run's sandbox; absent in journals of older agents, which had none. */
  sandbox?: number;
  /**
   * Present if the run has the folder of a warm driver: `waiting` until the driver may have the run, `handed-over` from then on.
   */
  warm?: 'waiting' | 'handed-over';
  /** The reason why a driver was started for the run; null if a waiting one has taken it. Absent until either is known. */
  cold_reason?: string | null;
  /** For a run that receives requests: `hiding` if secrets are masked in its frames. */
  channel?: 'hiding' | 'plain';
  /** True if its stdout starts with a greeting that is left out; `begin` is the position after it, once it is known. */
  greets?: boolean;
  begin: number | null;
  /** Memory that its driver requests, and the highest that its processes had; MiB. Absent while they are unknown. */
  requested_memory_mb?: number;
  peak_memory_mb?: number;
  at: string;
  /** Wall clock in milliseconds. */
  deadline: number | null;
  stop: { cause: StopCause; kill_at: number; forced: boolean; message?: string } | null;
  end: { outcome: RunOutcome; reason: RunReason; message: string; exit_code: number | null } | null;
}

/** Returns the journal of a run. If a crash of the machine left it unreadable, the run is reported as lost. */
export function readJournal(dir: string, runId: string): RunJournal | null {
  try {
    return readJson<RunJournal>(`${dir}/state.json`);
  } catch {
    const message = 'The node lost its record of the run.';
    return {
      ...blankJournal(runId, ''),
      seq: LOST_SEQ,
      end: { outcome: 'terminated', reason: 'AGENT_ERROR', message, exit_code: null },
    };
  }
}

/** Returns the memory of a run for the report of its end; nothing if it was not measured. */
export function memoryOf({
  requested_memory_mb,
  peak_memory_mb,
}: RunJournal): Pick<RunReport, 'requested_memory_mb' | 'peak_memory_mb'> {
  if (requested_memory_mb === undefined || peak_memory_mb === undefined) return {};
  return { requested_memory_mb, peak_memory_mb };
}

export function blankJournal(runId: string, correlationId: string): RunJournal {
  return {
    run_id: runId,
    correlation_id: correlationId,
    seq: 0,
    state: 'accepted',
    application_id: null,
    pid: null,
    at: new Date().toISOString(),
    begin: null,
    deadline: null,
    stop: null,
    end: null,
  };
}
