import { getJob } from 'managed-spark/operations';
import { SqlFailed, SqlServer, type SqlSession, type SqlStatement } from 'managed-spark/sql';
import { Pauses, Deadline, sleep } from 'managed-spark/core';
import { api } from '../../api/client';
import { sqlTexts } from '../sql-texts';
import type { ExecutionState } from './execution-state';
import { ResultRows } from './result-rows';
import { readProblem, type SqlProblem } from './sql-error';
import type { ServerKey } from './sql-servers';
import type { SqlPart } from './statements';

/** Statements of one press of a button, at most. */
export const MAX_STATEMENTS = 100;
const SERVER_POLL_MS = 1_000;
const SERVER_START_MS = 1_800_000;
const STATEMENT_MS = 24 * 3_600_000;
/** The SQLSTATE of a session that the server has closed. */
const NO_SESSION = '08003';

/** One statement, and what became of it. */
export interface Execution extends SqlPart {
  state: ExecutionState;
  startedAt: number | null;
  /** Milliseconds; null until it has ended. */
  tookMs: number | null;
  problem: SqlProblem | null;
  /** The error of a request, such as a refusal; the statement itself did not fail. */
  error: Error | null;
  result: ResultRows | null;
  /** Leads to the statement again after the page was loaded again. */
  handle: string | null;
}

export interface RunnerState {
  isRunning: boolean;
  executions: readonly Execution[];
  /** Grows when rows have come, which are not part of this state. */
  rowsVersion: number;
}

/** The part of an execution that is kept, so that it can be found again. */
export type KeptExecution = Pick<Execution, 'text' | 'from' | 'state' | 'startedAt' | 'tookMs' | 'problem' | 'handle'>;

/** Keeps the handle of a session, so that its temporary views are there when the page is loaded again. */
export interface SessionStore {
  get(server: ServerKey): string | null;
  set(server: ServerKey, handle: string | null): void;
}

/** Runs statements one after the other at one server, and keeps their results until the next ones are run. */
export class SqlRunner {
  #state: RunnerState = { isRunning: false, executions: [], rowsVersion: 0 };
  readonly #listeners = new Set<() => void>();
  readonly #sessions: SessionStore;
  #stopping: AbortController | null = null;
  #statements: SqlStatement[] = [];
  #current: SqlStatement | null = null;

  constructor(sessions: SessionStore) {
    this.#sessions = sessions;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly state = (): RunnerState => this.#state;

  /** Runs the statements until one of them fails. Results of earlier ones are freed. */
  async run(server: ServerKey, parts: readonly SqlPart[]): Promise<void> {
    if (this.#state.isRunning) return;
    this.#forget();
    const executions = parts.slice(0, MAX_STATEMENTS).map((part) => newExecution(part));
    await this.#during(executions, async (signal) => {
      for (const execution of executions) {
        await this.#execute(execution, signal, async () => {
          await this.#untilServed(server, execution, signal);
          return this.#begin(server, execution.text, signal);
        });
        if (execution.state !== 'done') break;
      }
    });
  }

  /** Shows statements that another load of the page has run; those that still run are waited for. */
  async resume(server: ServerKey, kept: readonly KeptExecution[]): Promise<void> {
    if (this.#state.isRunning) return;
    this.#forget();
    const executions = kept.map((one) => ({ ...newExecution(one), ...one }));
    const handle = this.#sessions.get(server);
    if (handle === null) {
      this.#set({ executions });
      return;
    }
    const session = sqlServer(server).session(handle);
    await this.#during(executions, async (signal) => {
      for (const execution of executions) {
        const { handle: of } = execution;
        if (of === null || ['failed', 'cancelled', 'skipped'].includes(execution.state)) continue;
        const { state, tookMs } = execution;
        await this.#execute(execution, signal, () => Promise.resolve(session.statement(of)), true);
        // The server may have freed what was there, which is no failure of the statement.
        if (state === 'done') Object.assign(execution, { state, tookMs, problem: null, error: null });
      }
    });
  }

  /** Stops the statement that runs, and leaves out those behind it. */
  async cancel(): Promise<void> {
    const current = this.#current;
    this.#stopping?.abort(new Cancelled());
    await current?.cancel().catch(() => {});
  }

  /** Fetches more rows of a result. */
  async loadMore(execution: Execution): Promise<void> {
    if (!execution.result || execution.result.isComplete) return;
    try {
      await execution.result.loadMore();
    } catch (error) {
      this.#fail(execution, error);
    }
    this.#set({ rowsVersion: this.#state.rowsVersion + 1 });
  }

  /** Frees what the server holds for the results, as when the screen is left. */
  dispose(): void {
    this.#stopping?.abort(new Cancelled());
    this.#forget();
  }

  async #during(executions: Execution[], work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const stopping = new AbortController();
    this.#stopping = stopping;
    this.#set({ isRunning: true, executions });
    await work(stopping.signal);
    for (const one of executions) if (one.state === 'waiting') one.state = 'skipped';
    this.#current = null;
    this.#set({ isRunning: false, executions: [...executions] });
  }

  async #execute(
    execution: Execution,
    signal: AbortSignal,
    begin: () => Promise<SqlStatement>,
    fromStart = false,
  ): Promise<void> {
    try {
      signal.throwIfAborted();
      const statement = await begin();
      this.#statements.push(statement);
      this.#current = statement;
      this.#change(execution, {
        state: 'running',
        handle: statement.handle,
        startedAt: execution.startedAt ?? Date.now(),
      });
      // It may have been cancelled before there was anything to cancel.
      if (signal.aborted) await statement.cancel();
      await untilFinished(statement, signal);
      const result = new ResultRows(await statement.columns({ signal }), statement);
      await result.loadMore(fromStart);
      this.#change(execution, { state: 'done', result, tookMs: Date.now() - (execution.startedAt ?? Date.now()) });
    } catch (error) {
      const { startedAt } = execution;
      this.#change(execution, { tookMs: startedAt === null ? null : Date.now() - startedAt });
      if (signal.aborted) this.#change(execution, { state: 'cancelled' });
      else this.#fail(execution, error);
    }
  }

  /** A session that the server has closed is opened again, once. */
  async #begin(server: ServerKey, text: string, signal: AbortSignal): Promise<SqlStatement> {
    const at = sqlServer(server);
    const handle = this.#sessions.get(server);
    if (handle !== null) {
      try {
        return await at.session(handle).execute(text, { signal });
      } catch (error) {
        if (!(error instanceof SqlFailed) || error.sqlState !== NO_SESSION) throw error;
      }
    }
    const session: SqlSession = await at.open({ signal });
    this.#sessions.set(server, session.handle);
    return session.execute(text, { signal });
  }

  async #untilServed({ workspaceId, jobId }: ServerKey, execution: Execution, signal: AbortSignal): Promise<void> {
    const deadline = new Deadline(SERVER_START_MS, 'The start of the SQL server');
    for (;;) {
      const run = await api.call(getJob, { path: { workspace_id: workspaceId, job_id: jobId }, signal });
      if (run.job_status === 'RUNNING') return;
      if (run.job_status !== 'SUBMITTED') throw new Error(sqlTexts.serverEnded(run.reason));
      this.#change(execution, { state: 'starting' });
      deadline.check();
      await sleep(SERVER_POLL_MS, signal);
    }
  }

  #fail(execution: Execution, error: unknown): void {
    const isSql = error instanceof SqlFailed;
    this.#change(execution, {
      state: 'failed',
      problem: isSql ? readProblem(error.details, error.sqlState) : null,
      error: isSql ? null : error instanceof Error ? error : new Error(String(error)),
    });
  }

  #change(execution: Execution, part: Partial<Execution>): void {
    Object.assign(execution, part);
    this.#set({ executions: [...this.#state.executions] });
  }

  #forget(): void {
    const statements = this.#statements;
    this.#statements = [];
    // The server frees by itself whatever is not closed.
    for (const statement of statements) void statement.close().catch(() => {});
  }

  #set(part: Partial<RunnerState>): void {
    this.#state = { ...this.#state, ...part };
    for (const listener of this.#listeners) listener();
  }
}

/** The user has stopped it. */
class Cancelled extends Error {}

function sqlServer(server: ServerKey): SqlServer {
  return new SqlServer(api, server);
}

function newExecution(part: SqlPart): Execution {
  return {
    text: part.text,
    from: part.from,
    state: 'waiting',
    startedAt: null,
    tookMs: null,
    problem: null,
    error: null,
    result: null,
    handle: null,
  };
}

async function untilFinished(statement: SqlStatement, signal: AbortSignal): Promise<void> {
  const pauses = new Pauses(new Deadline(STATEMENT_MS, 'The statement'), { signal });
  while (!(await statement.isFinished({ signal }))) await pauses.next('RUNNING');
}
