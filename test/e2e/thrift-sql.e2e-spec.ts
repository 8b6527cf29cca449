import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '../harness/eventually';
import {
  closeOperation,
  closeSession,
  executeStatement,
  fetchResults,
  handleIn,
  openSession,
} from '../harness/hive-messages';
import type { ApiClient } from './harness/api-client';
import { beeline } from './harness/beeline';
import { createCluster, describeEstate, destroyCluster, startCluster } from './harness/estate';
import { compileJar, JobDesk } from './harness/jobs';
import { clientOf, createUser } from './harness/people';
import { SharedPlatform } from './harness/shared-platform';

const run = promisify(execFile);
const ROWS = 1_000_000;
/** A catalog class that only the class loader of the run's own jars finds. */
const CATALOG = 'class OwnCatalog extends org.apache.spark.sql.connector.catalog.DelegatingCatalogExtension';

let platform: SharedPlatform;
let admin: ApiClient;
let desk: JobDesk;
let clusterId: number;
let jobId: number;
const tokens: Record<string, string> = {};

beforeAll(async () => {
  platform = await SharedPlatform.join('e2e', 'thrift-sql');
  admin = await platform.admin();
  desk = await JobDesk.open(admin, 'thrift-sql');
  const estate = await describeEstate(admin, platform.runtime.sparkVersion);
  clusterId = await createCluster(admin, estate, 'small');
  await startCluster(admin, clusterId);
  for (const name of ['ada', 'eve']) {
    await createUser(platform, name, 'ADMIN', [platform.tenantId]);
    tokens[name] = (await (await clientOf(platform, name)).post('/user/token', {})).token;
  }
  await desk.upload('catalog.jar', await compileJar(platform.runtime, CATALOG));
  jobId = await desk.start(clusterId, 'sql', {
    job_type: 'THRIFT_SQL',
    driver_memory: '1g',
    jars: ['catalog.jar'],
    conf: ['spark.sql.catalog.spark_catalog=OwnCatalog'],
  });
  await desk.reached(jobId, ['RUNNING']);
});

afterAll(async () => {
  if (clusterId) await destroyCluster(admin, clusterId);
  await platform?.close();
});

const path = () => `api/v1${desk.path}/job/${jobId}/thrift`;

function inBeeline(user: string, ...statements: string[]): Promise<string> {
  const { runtime, baseUrl } = platform;
  return beeline({ runtime, baseUrl, path: path(), user, token: tokens[user] ?? '' }, ...statements);
}

async function post(user: string, message: Buffer, type = 'application/x-thrift') {
  const basic = Buffer.from(`${user}:${tokens[user]}`).toString('base64');
  const answer = await fetch(`${platform.baseUrl}/${path()}`, {
    method: 'POST',
    headers: { authorization: `Basic ${basic}`, 'content-type': type },
    body: new Uint8Array(message),
  });
  return { status: answer.status, body: Buffer.from(await answer.arrayBuffer()) };
}

describe('a job that serves SQL', () => {
  it('executes statements of Beeline', async () => {
    const output = await inBeeline(
      'ada',
      'create table numbers (n bigint, name string)',
      "insert into numbers select id, concat('number ', id) from range(20000)",
      'select count(*), sum(n), max(name) from numbers',
      'select current_user()',
    );
    expect(output).toContain('20000,199990000,number 9999');
    expect(output).toContain('ada');
    const rows = await inBeeline('eve', 'select n from numbers order by n');
    expect(rows.trim().split('\n')).toHaveLength(20_000);
  });

  it('works from Python: a million rows, a cancelled statement, two users at once', async () => {
    const python = process.env['TEST_SQL_CLIENT_PYTHON'] ?? '';
    const { port } = new URL(platform.baseUrl);
    const program = run(python, [join(__dirname, 'harness', 'sql_client.py'), port, path(), String(ROWS)], {
      timeout: 240_000,
    });
    program.child.stdin?.end(JSON.stringify(tokens));
    const { stdout } = await program;
    expect(JSON.parse(stdout)).toEqual({
      read: { rows: ROWS, sum: (ROWS * (ROWS - 1)) / 2, seconds: expect.any(Number) },
      cancelled: 'CANCELED_STATE',
      after: 1_000,
      wide: {
        rows: 1_000,
        characters: 50_000_000,
        refused: expect.stringContaining('Row 2 of the result has 40'),
        behind: [2],
      },
      schemas: expect.arrayContaining(['default']),
      columns: ['a', 'b'],
      zones: ['Asia/Tokyo', expect.not.stringContaining('Tokyo')],
      ada: ['of ada', 'ada'],
      eve: ['of eve', 'eve'],
      refused: expect.stringContaining('401'),
    });
  });

  it('separates users', async () => {
    const opened = await Promise.all(['ada', 'eve'].map((user) => post(user, openSession('eve'))));
    const [adas, eves] = opened.map(({ body }) => handleIn(body));
    if (!adas || !eves) throw new Error('no sessions');
    expect(
      await post('ada', executeStatement(adas, "create temporary view hers as select 'of ada' as x")),
    ).toMatchObject({
      status: 200,
    });
    const refusal = [200, expect.stringContaining('08003')];
    const outcome = async (user: string, message: Buffer) => {
      const { status, body } = await post(user, message);
      return [status, body.toString('latin1')];
    };
    expect(await outcome('eve', executeStatement(adas, 'select * from hers'))).toEqual(refusal);
    const operation = handleIn((await post('ada', executeStatement(adas, 'select * from hers'))).body);
    expect(await outcome('eve', fetchResults(operation))).toEqual(refusal);
    expect((await post('ada', fetchResults(operation))).body.toString('latin1')).toContain('of ada');
    expect((await post('ada', closeOperation(operation))).status).toBe(200);
    expect(await outcome('ada', fetchResults(operation))).toEqual(refusal);
    // The view is not in the other session, and the user name that the client claims is ignored.
    const other = await post('eve', executeStatement(eves, 'select * from hers'));
    expect(other.body.toString('latin1')).toContain('TABLE_OR_VIEW_NOT_FOUND');
    expect((await post('ada', closeSession(adas))).status).toBe(200);
    expect(await outcome('ada', executeStatement(adas, 'select 1'))).toEqual(refusal);
    // Closing a session connects to a metastore, which must not fail.
    expect(await desk.log(jobId, 'stderr')).not.toContain('java.sql.SQLException');
  });

  it('names the reason why a session cannot start, and the number of rows to fetch at once', async () => {
    const begin = async (database: string) =>
      (await post('ada', openSession('x', [['use:database', database]]))).body.toString('latin1');
    expect(await begin('default')).toContain('hive.server2.thrift.resultset.default.fetch.size\0\0\0\x041000');
    expect(await begin('nowhere')).toContain('cannot start with the database nowhere: [SCHEMA_NOT_FOUND]');
  });

  it('refuses unauthorized users and malformed messages', async () => {
    tokens['bob'] = tokens['ada'] ?? '';
    expect((await post('bob', openSession())).status).toBe(401);
    expect((await post('ada', Buffer.from('GET / HTTP/1.1'))).status).toBe(400);
    expect((await post('ada', openSession(), 'application/json')).status).toBe(415);
  });

  it('ends when it is killed, and fails pending statements', async () => {
    const session = handleIn((await post('ada', openSession())).body);
    const endless = 'select sum(a.id * b.id) from range(10000000) a cross join range(10000000) b';
    const sent = async () => {
      const sql = 'SELECT last::int FROM run_request_queues WHERE run_id = $1';
      return (await platform.sql<{ last: number }>(sql, [jobId]))[0]?.last ?? 0;
    };
    const before = await sent();
    const waiting = post('ada', executeStatement(session, endless));
    await eventually(async () => (await sent()) > before, { what: 'the statement at the job' });
    await desk.kill(jobId);
    const answer = await waiting;
    expect([answer.status, answer.body.toString()]).toEqual([409, expect.stringContaining('CALL.ENDED')]);
    expect((await desk.ended(jobId)).job_status).toMatch(/^(STOPPED|KILLED)$/);
    expect((await post('ada', openSession())).status).toBe(409);
  });
});
