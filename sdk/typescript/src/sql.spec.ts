import { ConfigurationError, DeadlineExceeded } from './errors.ts';
import { SqlFailed } from './failures.ts';
import { SqlServer } from './sql.ts';
import { caught, ok, page, TestPlatform, withoutPauses } from './testing/platform.ts';
import { decodeReply, encodeCall, type Field, T } from './thrift.ts';

/** Makes the answer of a call: a message is the same as a call, but for its type and the id of its struct. */
function reply(method: string, fields: readonly Field[]): Response {
  const bytes = encodeCall(method, 1, fields);
  bytes[3] = 2;
  // The field of the struct follows the head, the name and the sequence number.
  bytes[4 + 4 + method.length + 4 + 2] = 0;
  return new Response(bytes, { headers: { 'Content-Type': 'application/x-thrift' } });
}

const SUCCESS: Field = [1, T.struct, [[1, T.i32, 0]]];
const ID: Field = [
  1,
  T.struct,
  [
    [1, T.text, Uint8Array.of(1, 255)],
    [2, T.text, 's'],
  ],
];
const operation = (hasResult: boolean): Field => [2, T.struct, [ID, [2, T.i32, 0], [3, T.bool, hasResult]]];
const state = (value: number, message = ''): readonly Field[] => [
  SUCCESS,
  [2, T.i32, value],
  [3, T.text, '42703'],
  [5, T.text, message],
];

describe('workspace.sql', () => {
  let platform: TestPlatform;

  beforeEach(() => {
    withoutPauses();
    platform = new TestPlatform();
    // A server runs, so none is started.
    platform.answers = [page([{ job_id: 7, job_status: 'RUNNING' }]), ok({ job_id: 7, job_status: 'RUNNING' })];
    platform.answers.push(reply('OpenSession', [SUCCESS, [3, T.struct, [ID]]]));
  });

  const methods = () => platform.requests.slice(2).map(({ url }) => new URL(url).pathname);

  it('runs a statement without a result on the server that runs', async () => {
    platform.answers.push(reply('ExecuteStatement', [SUCCESS, operation(false)]));
    platform.answers.push(reply('GetOperationStatus', state(1)), reply('GetOperationStatus', state(2)));
    platform.answers.push(reply('CloseOperation', [SUCCESS]), reply('CloseSession', [SUCCESS]));
    const table = await platform.client().workspace(3).sql('create table t', { cluster: 'c' });
    expect([table.columns, table.rows, table.isTruncated]).toEqual([[], [], false]);
    expect(new Set(methods())).toEqual(new Set(['/api/v1/workspace/3/spark/job/7/thrift']));
    expect(platform.answers).toEqual([]);
    expect(platform.requests.at(-1)?.headers.get('Content-Type')).toBe('application/x-thrift');
  });

  it('throws what the server says about a wrong statement, and releases it', async () => {
    platform.answers.push(reply('ExecuteStatement', [SUCCESS, operation(true)]));
    platform.answers.push(reply('GetOperationStatus', state(5, '[UNRESOLVED_COLUMN] nothing')));
    platform.answers.push(reply('CloseOperation', [SUCCESS]), reply('CloseSession', [SUCCESS]));
    const failure = await caught(platform.client().workspace(3).sql('select nothing', { cluster: 'c' }));
    expect(failure).toBeInstanceOf(SqlFailed);
    expect(failure).toMatchObject({ message: '[UNRESOLVED_COLUMN] nothing', sqlState: '42703' });
    expect(platform.answers).toEqual([]);
  });

  it('leaves stack traces out of the message of a failure, and keeps them with it', () => {
    const reason = "Job aborted due to stage failure: java.lang.RuntimeException: 'false' is not true!";
    const frames =
      '\n\tat java.base/java.lang.Thread.run(Thread.java:840)\n\nDriver stacktrace:\n\tat a.B.c(B.scala:1)';
    const details = `org.apache.hive.service.cli.HiveSQLException: Error running query: ${reason}${frames}`;
    expect(new SqlFailed(details, '')).toMatchObject({ message: reason, details });
    expect(new SqlFailed('\n\tat a.B.c(B.scala:1)', '').message).toBe('\n\tat a.B.c(B.scala:1)');
  });

  it('ends a statement that takes too long, and releases it', async () => {
    platform.answers.push(reply('ExecuteStatement', [SUCCESS, operation(true)]));
    const released = [reply('CloseOperation', [SUCCESS]), reply('CloseSession', [SUCCESS])];
    const answers = platform.fetch;
    platform.fetch = async (input, init) => {
      if (platform.answers.length > 0) return answers(input, init);
      platform.answers.push(...released);
      // The server does not answer before the time is over.
      await new Promise((resolve) => init?.signal?.addEventListener('abort', resolve));
      throw new DOMException('aborted', 'AbortError');
    };
    jest.restoreAllMocks();
    const failure = await caught(platform.client().workspace(3).sql('select 1', { cluster: 'c', timeoutMs: 200 }));
    expect(failure).toBeInstanceOf(DeadlineExceeded);
    expect(platform.answers).toEqual([]);
  });

  it('says that it got no message', async () => {
    platform.answers[2] = new Response(Uint8Array.of(0x80, 1, 0, 2, 0x7f, 255, 255, 255));
    const failure = await caught(platform.client().workspace(3).sql('select 1', { cluster: 'c' }));
    expect(failure.message).toMatch(/^The SQL server's answer cannot be read: /);
  });
});

describe('a session at a SQL server', () => {
  let platform: TestPlatform;

  beforeEach(() => {
    platform = new TestPlatform();
  });

  const server = () => new SqlServer(platform.transport(), { workspaceId: 3, jobId: 7 });
  const names = () => platform.bodies.map((body) => /Open\w+|Execute\w+|Get\w+|Fetch\w+|Cancel\w+/.exec(body)?.[0]);
  const metadata: Field = [2, T.struct, []];

  it('runs statements, and finds them again by their handles', async () => {
    platform.answers = [reply('OpenSession', [SUCCESS, [3, T.struct, [ID]]])];
    const session = await server().open();
    platform.answers = [reply('ExecuteStatement', [SUCCESS, operation(true)])];
    const statement = await session.execute('select 1');
    expect([session.handle, statement.handle, statement.hasResult]).toEqual(['01ff.73', '01ff.73.00.01', true]);

    platform.answers = [reply('GetOperationStatus', state(1)), reply('GetOperationStatus', state(2))];
    const again = server().session(session.handle).statement(statement.handle);
    expect([await again.isFinished(), await again.isFinished()]).toEqual([false, true]);
    platform.answers = [reply('GetResultSetMetadata', [SUCCESS, metadata]), reply('CancelOperation', [SUCCESS])];
    expect(await again.fetch(10)).toEqual([]);
    await again.cancel();
    expect(names()).toEqual([
      'OpenSession',
      'ExecuteStatement',
      'GetOperationStatus',
      'GetOperationStatus',
      'GetResultSetMetadata',
      'CancelOperation',
    ]);
    expect(platform.answers).toEqual([]);
  });

  it('refuses a text that is no handle', () => {
    for (const handle of ['', '01ff', '01ff.7x', '01ff.73.00.01']) {
      expect(() => server().session(handle)).toThrow(ConfigurationError);
    }
  });
});

describe('decodeReply', () => {
  /** An answer with a list of lists, as deep as it is long. */
  it('refuses a message that is nested without end', () => {
    const head = encodeCall('x', 1, []).slice(0, 4 + 4 + 1 + 4);
    const nested = Uint8Array.from({ length: 300 }, (_, index) => [T.struct, 0, 1][index % 3] ?? 0);
    const bytes = new Uint8Array([...head, ...nested]);
    expect(() => decodeReply(bytes)).toThrow('nested too deeply');
  });

  it('refuses a list that is longer than its message', () => {
    const head = encodeCall('x', 1, []).slice(0, 4 + 4 + 1 + 4);
    const bytes = new Uint8Array([...head, T.list, 0, 0, T.text, 0x7f, 255, 255, 255]);
    expect(() => decodeReply(bytes)).toThrow('The message is damaged.');
  });
});
