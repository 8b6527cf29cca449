// Statements for an SQL server, over the HiveServer2 protocol.
import { ConfigurationError, Unreachable } from './errors.ts';
import { SqlFailed } from './failures.ts';
import type { Operation, Upload } from './operation.ts';
import { columnsOf, rowsOf } from './sql-results.ts';
import { type Column, type SqlValue, Table } from './table.ts';
import { decodeReply, encodeCall, type Field, type Struct, structOf, T, textOf, type Value } from './thrift.ts';
import type { Transport } from './transport.ts';
import { Deadline, Pauses, type WaitOptions } from './waiting.ts';

const MAX_ROWS = 1_000_000;
const FETCH_SIZE = 10_000;
const QUERY_MS = 3_600_000;
/** Default timeout of a call: the server answers within seconds, unless it is busy. */
const CALL_MS = 300_000;
/** Timeout of releasing a statement, which is also done after the timeout of the statement itself. */
const CLOSE_MS = 10_000;

/** HIVE_CLI_SERVICE_PROTOCOL_V10, whose results come in columns. */
const PROTOCOL = 9;
/** TOperationState. */
const FINISHED = 2;
const UNFINISHED = new Set([0, 1, 7]);
/** TFetchOrientation. */
const NEXT = 0;
const FIRST = 4;
/** TStatusCode: success, and success with messages. */
const SUCCESSFUL = new Set([0, 1]);

export interface SqlOptions extends WaitOptions {
  /** Maximum number of rows to read; `isTruncated` says whether there are more. */
  maxRows?: number | undefined;
}

/** Bounds of one call. */
export type SqlCallOptions = Pick<WaitOptions, 'timeoutMs' | 'signal'>;

export interface FetchOptions extends SqlCallOptions {
  /** True to start again from the first row of the result. */
  fromStart?: boolean | undefined;
}

/** The generated operations leave it out, since its body is not JSON. */
const thriftSql: Operation<{ path: { workspace_id: number; job_id: number }; body: Upload }, Blob> = {
  name: 'thriftSql',
  method: 'POST',
  path: '/api/v1/workspace/{workspace_id}/spark/job/{job_id}/thrift',
  as: 'blob',
};

/** Calls a method with one struct, and returns the struct of the reply. @throws SqlFailed if the call failed */
type Call = (method: string, request: readonly Field[], options: SqlCallOptions) => Promise<Struct>;

/** An SQL server: a run of type THRIFT_SQL. */
export class SqlServer {
  readonly #transport: Transport;
  readonly #path: { workspace_id: number; job_id: number };
  #sequence = 0;

  constructor(transport: Transport, at: { workspaceId: number; jobId: number }) {
    this.#transport = transport;
    this.#path = { workspace_id: at.workspaceId, job_id: at.jobId };
  }

  /** Opens a session, which keeps its database, settings and temporary views until it is closed, or unused for an hour. */
  async open(options: SqlCallOptions = {}): Promise<SqlSession> {
    const opened = await this.#call('OpenSession', [[1, T.i32, PROTOCOL]], options);
    return new SqlSession(this.#call, identifierIn(opened.get(3)));
  }

  /** Returns the session with this `SqlSession.handle`, without a request. */
  session(handle: string): SqlSession {
    return new SqlSession(this.#call, parsedHandle(handle, 2));
  }

  /** Runs a statement in a session of its own. @throws SqlFailed if it is not valid or fails */
  async query(
    statement: string,
    { maxRows = MAX_ROWS, timeoutMs = QUERY_MS, signal }: SqlOptions = {},
  ): Promise<Table> {
    const deadline = new Deadline(timeoutMs, 'The statement');
    const within = async <R>(work: (options: SqlCallOptions) => Promise<R>): Promise<R> => {
      deadline.check();
      try {
        // A timer may end a little early.
        return await work({ timeoutMs: deadline.leftMs + 10, signal });
      } catch (error) {
        if (error instanceof Unreachable) deadline.check();
        throw error;
      }
    };
    const session = await within((options) => this.open(options));
    try {
      const begun = await within((options) => session.execute(statement, options));
      try {
        const pauses = new Pauses(deadline, { signal });
        while (!(await within((options) => begun.isFinished(options)))) await pauses.next('RUNNING');
        return await tableOf(begun, maxRows, within);
      } finally {
        await released(begun.close());
      }
    } finally {
      await released(session.close());
    }
  }

  readonly #call: Call = async (method, request, { timeoutMs = CALL_MS, signal }) => {
    this.#sequence += 1;
    // A statement may have taken effect although its answer was lost, so messages are never retried.
    const answer = await this.#transport.call(thriftSql, {
      path: this.#path,
      body: encodeCall(method, this.#sequence, request),
      headers: { 'Content-Type': 'application/x-thrift' },
      repeatable: false,
      timeoutMs,
      signal,
    });
    const reply = replyOf(new Uint8Array(await answer.arrayBuffer()));
    const status = structOf(reply.get(1));
    if (SUCCESSFUL.has(Number(status.get(1)))) return reply;
    throw new SqlFailed(textOf(status.get(5)) || `${method} failed.`, textOf(status.get(3)));
  };
}

/** The two parts of a handle, which identify a session or an operation to the server. */
type Identifier = readonly [guid: Uint8Array, secret: Uint8Array];

/** A session on an SQL server. */
export class SqlSession {
  readonly #call: Call;
  readonly #field: Field;
  /** Identifies the session, so that another process of the same user can continue it. */
  readonly handle: string;

  constructor(call: Call, identifier: readonly Uint8Array[]) {
    this.#call = call;
    this.#field = [1, T.struct, [identifierField(identifier)]];
    this.handle = identifier.map(hexOf).join('.');
  }

  /** Starts a statement, and returns while it runs. @throws SqlFailed if it is not valid */
  async execute(statement: string, options: SqlCallOptions = {}): Promise<SqlStatement> {
    const request: Field[] = [this.#field, [2, T.text, statement], [4, T.bool, true]];
    const begun = structOf((await this.#call('ExecuteStatement', request, options)).get(2));
    return new SqlStatement(this.#call, identifierIn(begun), {
      kind: Number(begun.get(2)),
      hasResult: begun.get(3) === true,
    });
  }

  /** Returns the statement with this `SqlStatement.handle`, without a request. */
  statement(handle: string): SqlStatement {
    const [guid, secret, kind, hasResult] = parsedHandle(handle, 4);
    return new SqlStatement(this.#call, [guid, secret] as Identifier, {
      kind: kind?.[0] ?? 0,
      hasResult: hasResult?.[0] === 1,
    });
  }

  /** Closes the session and its statements. */
  async close(options: SqlCallOptions = { timeoutMs: CLOSE_MS }): Promise<void> {
    await this.#call('CloseSession', [this.#field], options);
  }
}

/** A statement that an SQL server has started. */
export class SqlStatement {
  readonly #call: Call;
  readonly #field: Field;
  #columns: Promise<Column[]> | undefined;
  /** Identifies the statement, so that another process can continue it through its session. */
  readonly handle: string;
  /** False for statements without a result, such as CREATE TABLE. */
  readonly hasResult: boolean;

  constructor(
    call: Call,
    identifier: readonly Uint8Array[],
    { kind, hasResult }: { kind: number; hasResult: boolean },
  ) {
    this.#call = call;
    this.#field = [1, T.struct, [identifierField(identifier), [2, T.i32, kind], [3, T.bool, hasResult]]];
    this.hasResult = hasResult;
    this.handle = [...identifier, Uint8Array.of(kind), Uint8Array.of(hasResult ? 1 : 0)].map(hexOf).join('.');
  }

  /** Waits some seconds for the end of the statement; returns false if it still runs. @throws SqlFailed if it failed or was cancelled */
  async isFinished(options: SqlCallOptions = {}): Promise<boolean> {
    const status = await this.#call('GetOperationStatus', [this.#field], options);
    const state = Number(status.get(2));
    if (state === FINISHED) return true;
    if (UNFINISHED.has(state)) return false;
    throw new SqlFailed(textOf(status.get(5)) || 'The statement was cancelled.', textOf(status.get(3)));
  }

  /** Returns the columns of the result of a statement that has finished. */
  columns(options: SqlCallOptions = {}): Promise<Column[]> {
    if (!this.hasResult) return Promise.resolve([]);
    this.#columns ??= this.#call('GetResultSetMetadata', [this.#field], options).then(columnsOf);
    return this.#columns;
  }

  /** Returns the next rows, possibly fewer than requested, and none at the end. */
  async fetch(rows: number, { fromStart = false, ...options }: FetchOptions = {}): Promise<SqlValue[][]> {
    const columns = await this.columns(options);
    if (columns.length === 0) return [];
    const request: Field[] = [this.#field, [2, T.i32, fromStart ? FIRST : NEXT], [3, T.i64, rows]];
    return rowsOf(columns, await this.#call('FetchResults', request, options));
  }

  /** Cancels the statement; what it has already written is kept. */
  async cancel(options: SqlCallOptions = { timeoutMs: CLOSE_MS }): Promise<void> {
    await this.#call('CancelOperation', [this.#field], options);
  }

  /** Releases the resources of the statement on the server. */
  async close(options: SqlCallOptions = { timeoutMs: CLOSE_MS }): Promise<void> {
    await this.#call('CloseOperation', [this.#field], options);
  }
}

type Within = <R>(work: (options: SqlCallOptions) => Promise<R>) => Promise<R>;

async function tableOf(statement: SqlStatement, maxRows: number, within: Within): Promise<Table> {
  // Some statements have no result.
  const columns = await within((options) => statement.columns(options));
  const rows: SqlValue[][] = [];
  // One row beyond the maximum shows whether there are more.
  while (columns.length > 0 && rows.length <= maxRows) {
    const wanted = Math.min(FETCH_SIZE, maxRows + 1 - rows.length);
    const page = await within((options) => statement.fetch(wanted, options));
    if (page.length === 0) break;
    for (const row of page) rows.push(row);
  }
  return new Table(columns, rows.slice(0, maxRows), rows.length > maxRows);
}

/** Ignores a failure, since the server releases handles by itself after some time. */
async function released(closing: Promise<void>): Promise<void> {
  await closing.catch(() => {});
}

function replyOf(bytes: Uint8Array): Struct {
  try {
    return decodeReply(bytes);
  } catch (error) {
    throw new SqlFailed(`The SQL server's answer cannot be read: ${String(error)}`, '');
  }
}

/** Returns the parts of the identifier in a handle. */
function identifierIn(handle: Value | undefined): Identifier {
  const id = structOf(structOf(handle).get(1));
  return [bytesOf(id.get(1)), bytesOf(id.get(2))];
}

function identifierField([guid, secret]: readonly Uint8Array[]): Field {
  return [
    1,
    T.struct,
    [
      [1, T.text, guid],
      [2, T.text, secret],
    ],
  ];
}

function bytesOf(value: Value | undefined): Uint8Array {
  return value instanceof Uint8Array ? value.slice() : new Uint8Array();
}

function hexOf(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

function parsedHandle(handle: string, parts: number): Uint8Array[] {
  const texts = handle.split('.');
  if (texts.length !== parts || !texts.every((text) => /^([0-9a-f]{2})*$/.test(text))) {
    throw new ConfigurationError('This is not a handle of a session or statement of an SQL server.');
  }
  return texts.map((text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16)));
}
