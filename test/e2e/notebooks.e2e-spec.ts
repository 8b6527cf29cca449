import { eventually } from '../harness/eventually';
import type { KernelTestClient } from '../harness/kernel-client';
import type { ApiClient } from './harness/api-client';
import { createCluster, describeEstate, startCluster } from './harness/estate';
import { code, ENDLESS_JOB, NotebookDesk } from './harness/notebooks';
import { SharedPlatform } from './harness/shared-platform';
import { kill9 } from './harness/survival';

let platform: SharedPlatform;
let admin: ApiClient;
let desk: NotebookDesk;
let base: string;

beforeAll(async () => {
  platform = await SharedPlatform.join('e2e', 'notebooks');
  admin = await platform.admin();
  const estate = await describeEstate(admin, platform.runtime.sparkVersion);
  const clusterId = await createCluster(admin, estate, 'small');
  await startCluster(admin, clusterId);
  desk = await NotebookDesk.open(admin, clusterId, 'research');
  base = desk.path;
});

afterEach(() => desk.disconnect());

afterAll(() => platform?.close());

/** Resolves once the kernel executes the request. */
async function begun(client: KernelTestClient, id: string): Promise<void> {
  const isBegun = () =>
    client.messages.some((one) => one.msg_type === 'execute_input' && one.parent_header.msg_id === id);
  await eventually(() => Promise.resolve(isBegun()), { what: `${id} begun` });
}

/** Resolves once the API has stored the request. */
async function taken(id: number, msgId: string): Promise<void> {
  const sql = 'SELECT 1 FROM kernel_requests WHERE run_id = $1 AND msg_id = $2';
  await eventually(async () => (await platform.sql(sql, [id, msgId])).length > 0, { what: `${msgId} taken` });
}

const kernelProcesses = async () =>
  (await platform.nodeProcesses()).filter(({ command }) => /kernel_|node\.ScalaKernel/.test(command));
const noKernels = async () => (await kernelProcesses()).length === 0;
const kernelOf = async (id: number) => (await admin.get(`${base}/notebook/${id}/kernel/status`)).kernel_info;

describe('a Python notebook', () => {
  it('executes its cells with Spark and keeps their output, with and without clients', async () => {
    const conf = await desk.describe('counts', 'python3', [
      code('one', 'print("hello")\n40 + 2'),
      { cell_uuid: 'two', cell_type: 'markdown', code: '# Text', output: [] },
      code('three', 'spark.range(1000).selectExpr("sum(id)").first()[0]'),
      code('four', 'import time\nfor n in range(40):\n    print("line", n, flush=True)\n    time.sleep(0.1)'),
      code(
        'five',
        'from pyspark.sql.functions import udf\nspark.range(3).select(udf(lambda n: 1 // n)("id")).collect()',
      ),
    ]);
    const id = await desk.start(conf);
    const client = await desk.connect(id);
    client.execute('one', 'print("hello")\n40 + 2');
    expect((await client.replied('one')).content).toMatchObject({ status: 'ok', execution_count: 1 });
    expect(client.texts('one').join('')).toBe('hello\n');
    client.execute('two', '# Text');
    expect((await client.replied('two')).content).toMatchObject({ status: 'ok' });
    client.execute('three', 'spark.range(1000).selectExpr("sum(id)").first()[0]');
    expect((await client.replied('three')).content).toMatchObject({ status: 'ok' });
    expect(
      client.messages.find((one) => one.msg_type === 'execute_result' && one.parent_header.msg_id === 'three'),
    ).toMatchObject({
      content: { data: { 'text/plain': '499500' } },
    });
    const inJvm = '[spark._jvm.System.getenv(name) for name in ("SHLVL", "PYTHONHASHSEED")]';
    client.execute('jvm', inJvm);
    await client.replied('jvm');
    // Any of Spark's scripts would count itself.
    expect(client.shown('jvm')).toEqual([{ 'text/plain': "[None, '0']" }]);
    expect(await desk.outputsOf(conf, 'one')).toEqual([
      { type: 'text', Celloutput: 'hello\n' },
      { type: 'text', Celloutput: '42' },
    ]);
    // No client is connected; the cell continues.
    client.execute('four', 'import time\nfor n in range(40):\n    print("line", n, flush=True)\n    time.sleep(0.1)');
    await eventually(() => Promise.resolve(client.texts('four').length > 0));
    client.socket.terminate();
    await eventually(async () => (await desk.outputsOf(conf, 'four'))[0]?.Celloutput.includes('line 39'));
    const again = await desk.connect(id);
    expect((await again.replied('four')).content.status).toBe('ok');
    const missed = [...client.texts('four'), ...again.texts('four')].join('');
    for (let line = 0; line < 40; line += 1) expect(missed).toContain(`line ${line}\n`);
    again.execute(
      'five',
      'from pyspark.sql.functions import udf\nspark.range(3).select(udf(lambda n: 1 // n)("id")).collect()',
    );
    expect((await again.replied('five')).content).toMatchObject({ status: 'error' });
    expect((await desk.outputsOf(conf, 'five')).map(({ Celloutput: text }) => text).join('')).toContain(
      'ZeroDivisionError',
    );

    expect((await admin.post(`${base}/notebook/kill/${id}`, {}, 201)).NotebookKill.notebook_id).toBe(id);
    await desk.ended(id);
    await eventually(() => Promise.resolve(again.code === 1000));
    await eventually(noKernels);
    const { notebook_application_id: application } = await admin.get(`${base}/notebook/${id}`);
    expect(application).toMatch(/^(local|app)-/);
  });

  it('is interrupted with its Spark job, restarted, and reports a kernel that died', async () => {
    const conf = await desk.describe('endless', 'python3', [code('one', 'x')]);
    const id = await desk.start(conf);
    const client = await desk.connect(id);
    // The interrupt mostly hits a cell that still waits for Spark.
    client.execute('early', 'spark.range(1).count()');
    await begun(client, 'early');
    await admin.post(`${base}/notebook/${id}/kernel/interrupt`, {}, 201);
    const early = await client.replied('early');
    if (early.content.status !== 'ok') expect(early.content).toMatchObject({ ename: 'KeyboardInterrupt' });
    // The interrupt may arrive late and hit the next cell.
    for (let tries = 1; ; tries += 1) {
      client.execute(`ready-${tries}`, 'spark.range(2).count()');
      const { content } = await client.replied(`ready-${tries}`);
      if (content.status === 'ok') break;
      expect({ tries, ...content }).toMatchObject({ tries: 1, ename: 'KeyboardInterrupt' });
    }

    client.execute('a', ENDLESS_JOB);
    client.execute('b', '1');
    await eventually(async () => (await kernelOf(id)).kernel_status === 'busy');
    await taken(id, 'b');
    await eventually(() => client.texts('a').length > 0, { timeoutMs: 180_000, what: 'a job of Spark' });
    await admin.post(`${base}/notebook/${id}/kernel/interrupt`, {}, 201);
    expect((await client.replied('a')).content).toMatchObject({ status: 'error', ename: 'KeyboardInterrupt' });
    expect((await client.replied('b')).content.status).toBe('aborted');
    client.execute('c', 'spark.range(5).count()');
    expect((await client.replied('c')).content).toMatchObject({ status: 'ok' });

    client.execute('d', 'x = 1\nimport time; time.sleep(600)');
    client.execute('e', '1');
    // The socket and the next HTTP request may reach the API in any order.
    await begun(client, 'd');
    await taken(id, 'e');
    await admin.post(`${base}/notebook/${id}/kernel/restart`, {}, 201);
    expect((await client.replied('e')).content.status).toBe('aborted');
    expect((await client.replied('d')).content.status).not.toBe('ok');
    await eventually(async () => (await kernelOf(id)).kernel_status === 'idle', { timeoutMs: 180_000 });
    client.execute('f', 'x');
    expect((await client.replied('f')).content).toMatchObject({ status: 'error', ename: 'NameError' });

    client.execute('g', 'import os; os.kill(os.getpid(), 9)');
    expect((await client.replied('g')).content).toMatchObject({ status: 'error', ename: 'KernelDied' });
    expect(
      await eventually(async () => ((await kernelOf(id)).kernel_status === 'dead' ? kernelOf(id) : null)),
    ).toMatchObject({
      reason: expect.stringContaining('SIGKILL'),
    });
    await admin.post(`${base}/notebook/${id}/kernel/startOrGetStatus`, {});
    await eventually(async () => (await kernelOf(id)).kernel_status === 'idle', { timeoutMs: 180_000 });
    client.execute('h', '1 + 1');
    expect((await client.replied('h')).content).toMatchObject({ status: 'ok' });
    await admin.post(`${base}/notebook/kill/${id}`, {}, 201);
    await desk.ended(id);
  });

  it('ends with a reason when the bridge to its kernel is killed, and leaves no request pending', async () => {
    const text = 'print("begun", flush=True)\nimport time; time.sleep(600)';
    const conf = await desk.describe('bridgeless', 'python3', [code('one', text), code('two', '1')]);
    const id = await desk.start(conf);
    const client = await desk.connect(id);
    client.execute('one', text);
    client.execute('two', '1');
    await eventually(() => Promise.resolve(client.texts('one').join('') === 'begun\n'));
    const bridges = (await kernelProcesses()).filter(({ command }) => /python\S* \S*kernel_bridge[.]py/.test(command));
    kill9(bridges.map(({ pid }) => pid));
    for (const cell of ['one', 'two']) expect((await client.replied(cell)).content.status).toBe('aborted');
    const { reason } = await desk.ended(id, 'TERMINATED');
    expect(reason).toContain('SIGKILL');
    await eventually(async () => client.code === 1000 && (await noKernels()));
    expect(await desk.outputsOf(conf, 'one')).toEqual([{ type: 'text', Celloutput: 'begun\n' }]);
  });
});

describe('an SQL notebook', () => {
  it('shows the results of its statements as tables', async () => {
    const text = 'create table pairs as select id, id * id as square from range(3);\nselect * from pairs order by id';
    const conf = await desk.describe('tables', 'sql', [code('one', text), code('two', 'select 1;\nselect nothing')]);
    const id = await desk.start(conf);
    const client = await desk.connect(id);
    client.execute('one', text);
    expect((await client.replied('one')).content).toMatchObject({ status: 'ok' });
    const [table] = await desk.outputsOf(conf, 'one');
    expect(table).toMatchObject({ type: 'html' });
    expect(table?.Celloutput).toContain('<td>2</td><td>4</td>');
    client.execute('two', 'select 1;\nselect nothing');
    expect((await client.replied('two')).content).toMatchObject({ status: 'error' });
    expect((await client.replied('two')).content.evalue).toContain('Statement 2, which begins on line 2');
    // Spark formats values in the session's time zone. The statement begins with a byte order mark, as from Windows editors.
    client.execute(
      'two:shown',
      String.raw`${'\uFEFF'}SET spark.sql.session.timeZone=Asia/Tokyo; SELECT r'C:\' AS ${'`a;b`'}, timestamp'2024-01-01 00:00:00' AS t,
        true AS b, array(1, null) AS l, map('k', 1) AS m, X'00FF' AS x, interval '1' day AS i;`,
    );
    expect((await client.replied('two:shown')).content).toMatchObject({ status: 'ok' });
    const shown = (await desk.outputsOf(conf, 'two')).at(-1)?.Celloutput;
    expect(shown).toContain('<th>a;b</th>');
    const values = [
      'C:\\',
      '2024-01-01 00:00:00',
      'true',
      '[1, NULL]',
      '{k -&gt; 1}',
      '[00 FF]',
      'INTERVAL &#x27;1&#x27; DAY',
    ];
    for (const value of values) expect(shown).toContain(`<td>${value}</td>`);
    await admin.post(`${base}/notebook/kill/${id}`, {}, 201);
    await desk.ended(id);
  });
});

/** Runs forever, and prints a line once its job has tasks. */
const ENDLESS_SCALA = `
val out = Console.out
val tracker = sc.statusTracker
def tasks = tracker.getActiveStageIds.flatMap(id => tracker.getStageInfo(id)).map(_.numActiveTasks).sum
new Thread(() => { while (tasks == 0) Thread.sleep(20); out.println("runs") }).start()
spark.range(0, 10000000000000L, 1, 2).selectExpr("sum(id % 7)").collect()`;

describe('a Scala notebook', () => {
  it('executes cells with Spark, is interrupted with its job, restarted, and reports a kernel that died', async () => {
    const sum = 'val xs = spark.range(1000).selectExpr("sum(id)").first().getLong(0)\nprintln(s"sum $xs")';
    const conf = await desk.describe('shells', 'scala', [code('one', sum), code('two', '1 / (xs - xs)')]);
    const id = await desk.start(conf);
    const client = await desk.connect(id);
    // This request is sent before the kernel and its session have started.
    client.execute('one', sum);
    expect((await client.replied('one')).content).toMatchObject({ status: 'ok', execution_count: 1 });
    // Scala 2.13 shows a definition as it is written.
    expect(client.texts('one').join('')).toMatch(/^(val )?xs: Long = 499500\nsum 499500\n$/);
    const kept = await desk.outputsOf(conf, 'one');
    expect(kept.map(({ Celloutput }) => Celloutput).join('')).toBe(client.texts('one').join(''));
    client.execute('two', '1 / (xs - xs)');
    const failure = { status: 'error', ename: 'java.lang.ArithmeticException', evalue: '/ by zero' };
    expect((await client.replied('two')).content).toMatchObject(failure);
    expect((await desk.outputsOf(conf, 'two'))[0]?.Celloutput).toContain('ArithmeticException: / by zero');
    // The executors of the cluster run a function of the notebook.
    client.execute('three', 'spark.range(4).map(_ * xs).reduce(_ + _)');
    await client.replied('three');
    expect(client.shown('three')).toEqual([{ 'text/plain': String(499_500 * 6) }]);
    client.execute('four', 'val text: String = 5');
    expect((await client.replied('four')).content).toMatchObject({
      status: 'error',
      ename: 'CompileError',
      evalue: expect.stringMatching(/^<console>:\d+: error: type mismatch;\n[^]*\n *val text: String = 5\n +\^$/),
    });
    // Spark can only encode a class that was defined before the statement that uses it.
    client.execute('five', 'case class Item(price: Int)\nSeq(Item(1), Item(41)).toDS.map(_.price).reduce(_ + _)');
    expect((await client.replied('five')).content).toMatchObject({ status: 'ok' });
    expect(client.shown('five')).toEqual([{ 'text/plain': '42' }]);
    client.execute('jvm', 'Seq("SHLVL", "PYTHONHASHSEED").map(sys.env.get)');
    await client.replied('jvm');
    expect(client.shown('jvm')[0]?.['text/plain']).toMatch(/List\(None, Some\(0\)\)/);
    client.execute('six', 'kernel.display.html("<b>bold</b>")\nSystem.out.println("from Java")\n"text\\n"');
    expect((await client.replied('six')).content).toMatchObject({ status: 'ok' });
    expect(client.shown('six')).toEqual([{ 'text/html': '<b>bold</b>' }, { 'text/plain': 'text\n' }]);
    expect(client.texts('six').join('')).toBe('from Java\n');
    client.execute('seven', '\uFEFFval n = 1\nval s: String = n');
    expect((await client.replied('seven')).content.evalue).toMatch(
      /^In the statement at line 2 of the cell:\n<console>/,
    );
    // An exception whose own methods throw, and an error of the compiler, which Scala counts as fatal.
    client.execute('eight', 'class Evil extends Exception { override def getMessage = throw this }\nthrow new Evil');
    expect((await client.replied('eight')).content.ename).toMatch(/Evil$/);
    client.execute('nine', Array.from({ length: 6_000 }, () => '1').join('+'));
    expect((await client.replied('nine')).content).toMatchObject({ ename: 'java.lang.StackOverflowError' });
    client.execute('ten', 'new java.io.PrintWriter(Console.out).close()');
    client.execute('eleven', 'println("still here")');
    await client.replied('eleven');
    expect(client.texts('eleven').join('')).toBe('still here\n');

    client.execute('a', ENDLESS_SCALA);
    client.execute('b', '1');
    await eventually(() => Promise.resolve(client.texts('a').join('').endsWith('runs\n')), { timeoutMs: 180_000 });
    await admin.post(`${base}/notebook/${id}/kernel/interrupt`, {}, 201);
    expect((await client.replied('a')).content).toMatchObject({ status: 'error', ename: 'Interrupted' });
    expect((await client.replied('b')).content.status).toBe('aborted');
    client.execute('c', 'println(sc.statusTracker.getActiveJobIds.length + spark.range(5).count() + xs)');
    expect((await client.replied('c')).content).toMatchObject({ status: 'ok' });
    expect(client.texts('c').join('')).toBe('499505\n');

    await admin.post(`${base}/notebook/${id}/kernel/restart`, {}, 201);
    await eventually(async () => (await kernelOf(id)).kernel_status === 'idle', { timeoutMs: 180_000 });
    client.execute('d', 'xs');
    expect((await client.replied('d')).content).toMatchObject({
      status: 'error',
      evalue: expect.stringContaining('not found: value xs'),
    });
    // The interpreter also answers other requests, even unknown ones.
    client.ask('f', 'complete_request', { code: 'spark.ran', cursor_pos: 9 });
    // Positions are characters, not halves of them.
    client.ask('h', 'complete_request', { code: 'val a = "😀"; spark.ran', cursor_pos: 22 });
    expect((await client.answered('h')).content).toMatchObject({ matches: ['range'], cursor_start: 19 });
    client.ask('g', 'inspect_request', { code: 'spark', cursor_pos: 3 });
    expect((await client.answered('f')).content).toMatchObject({ status: 'ok', matches: ['range'], cursor_start: 6 });
    expect((await client.answered('g')).content).toMatchObject({ status: 'ok', found: false });
    client.execute('e', 'Runtime.getRuntime.halt(7)');
    expect((await client.replied('e')).content).toMatchObject({ status: 'error', ename: 'KernelDied' });
    await eventually(async () => (await kernelOf(id)).kernel_status === 'dead');
    expect(await kernelOf(id)).toMatchObject({ reason: 'The kernel ended (exit code 7).' });
    await admin.post(`${base}/notebook/kill/${id}`, {}, 201);
    await desk.ended(id);
    await eventually(noKernels);
  });
});
