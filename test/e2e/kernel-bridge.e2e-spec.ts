import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { RecordReader, RecordWriter } from '../../libs/node-agent/channel-files';
import { eventually } from '../harness/eventually';
import { kernelMessage } from '../harness/kernel-messages';
import { preparedRuntime } from '../harness/prepared-runtime';
import { ENDLESS_JOB } from './harness/notebooks';

const PROGRAM = resolve(__dirname, '..', '..', 'libs', 'run-bridges', 'kernel_bridge.py');

/** Stands in for Spark and its Scala kernel, and misbehaves on request. */
const KERNEL = `#!/usr/bin/env python3
import json, os, struct, sys, uuid
requests, frames = open(sys.argv[-2], "rb"), open(sys.argv[-1], "wb", buffering=0)

def record(frame):
    payload = json.dumps(frame).encode()
    frames.write(struct.pack(">I", len(payload)) + payload)

def say(kind, parent, **content):
    header = {"msg_id": uuid.uuid4().hex, "msg_type": kind}
    record({"op": "message", "message": {"header": header, "parent_header": parent, "metadata": {}, "content": content}})

print("begun with", sys.argv[1:-2], file=sys.stderr)
record({"op": "ready"})
while True:
    head = requests.read(4)
    if not head:
        os._exit(0)
    frame = json.loads(requests.read(struct.unpack(">I", head)[0]))
    if frame["op"] != "message":
        continue
    header, code = frame["message"]["header"], frame["message"]["content"].get("code")
    if code == "late output":
        say("status", header, execution_state="busy")
        say("execute_reply", header, status="ok", execution_count=1)
        say("stream", header, name="stdout", text="late")
        say("status", header, execution_state="idle")
    elif code == "no reply":
        say("status", header, execution_state="busy")
    elif code == "garbage":
        frames.write(struct.pack(">I", 12) + b"no message {")
    elif code == "endless":
        frames.write(struct.pack(">I", 0x7fffffff) + b"x")
    elif code == "huge":
        say("display_data", header, data={}, metadata={"x": "x" * 17_000_000})
        say("execute_reply", header, status="ok", payload="x" * 17_000_000)
        say("status", header, execution_state="idle")
    elif code == "attack":
        opened = []
        for name in ("fd/4", "fd/3", "mem", "environ"):
            try:
                os.close(os.open("/proc/%d/%s" % (os.getppid(), name), os.O_RDONLY))
                opened.append(name)
            except PermissionError:
                pass
        own = os.path.exists("/proc/self/fd/1") and len(open("/proc/self/environ", "rb").read()) > 0
        say("execute_reply", header, status="ok", opened=opened, own=own)
        say("status", header, execution_state="idle")
    elif code == "end":
        os._exit(3)
    elif code and code.startswith("length"):
        say("execute_reply", header, status="ok", execution_count=len(code))
        say("status", header, execution_state="idle")
`;

interface Frame {
  op: string;
  generation: number;
  state?: string;
  reason?: string | null;
  message?: { msg_type: string; parent_header: { msg_id?: string }; content: Record<string, unknown> };
}

/** Root's capabilities bypass file permissions, and no run has them. */
const WITHOUT = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-all', '--inh-caps=-all'] : [];

let folder: string;
let bridge: ChildProcess;
let writer: RecordWriter;
let reader: RecordReader;
let sent: number;
let frames: Frame[];

let log: string;

function begin(words: readonly string[], env: NodeJS.ProcessEnv): void {
  const [requests, framesFile] = [join(folder, 'requests'), join(folder, 'frames')];
  for (const file of [requests, framesFile]) writeFileSync(file, '');
  const fds = [openSync(requests, 'r'), openSync(framesFile, 'a')];
  const [program = '', ...args] = [...WITHOUT, preparedRuntime().python, PROGRAM, ...words];
  bridge = spawn(program, args, {
    cwd: folder,
    env: { PATH: process.env['PATH'], TMPDIR: folder, PYTHONDONTWRITEBYTECODE: '1', ...env },
    stdio: ['ignore', 'inherit', 'pipe', ...fds],
  });
  log = '';
  bridge.stderr?.on('data', (text: Buffer) => (log += text.toString()));
  fds.forEach(closeSync);
  writer = new RecordWriter(requests);
  reader = new RecordReader(framesFile, 1);
  sent = 0;
  frames = [];
}

async function end(): Promise<void> {
  if (bridge.exitCode === null) {
    const ended = new Promise((done) => bridge.once('exit', done));
    bridge.kill('SIGTERM');
    await ended;
  }
  rmSync(folder, { recursive: true, force: true });
}

function ask(request: object): void {
  sent += 1;
  writer.append([{ number: sent, payload: Buffer.from(JSON.stringify(request)) }], 0, reader.acknowledged);
}

function message(msgId: string, type: string, code: string): void {
  ask({ op: 'message', generation: 9, message: kernelMessage(msgId, type, code) });
}

const execute = (msgId: string, code: string) => message(msgId, 'execute_request', code);

/** Waits for the first value that `wanted` finds in the frames, and returns it. */
function until<T>(wanted: (frames: readonly Frame[]) => T | undefined): Promise<T> {
  const poll = () => {
    const read = reader.read(64 * 1024 * 1024);
    frames.push(...read.map(({ payload }) => JSON.parse(payload.toString('utf8')) as Frame));
    return Promise.resolve(wanted(frames));
  };
  return eventually(poll, { timeoutMs: 240_000, everyMs: 10 });
}

const about = (msgId: string) => frames.filter((one) => one.message?.parent_header.msg_id === msgId);
const replyTo = (msgId: string) =>
  until(() => about(msgId).find((one) => one.message?.msg_type.endsWith('_reply'))?.message?.content);
const state = (wanted: string) => until(() => frames.find((one) => one.state === wanted));

describe('a kernel behind a pipe', () => {
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'kernel-bridge-'));
    mkdirSync(join(folder, 'bin'));
    writeFileSync(join(folder, 'bin', 'spark-submit'), KERNEL);
    chmodSync(join(folder, 'bin', 'spark-submit'), 0o755);
    begin(['scala', '/jars'], { SPARK_HOME: folder, PYSPARK_SUBMIT_ARGS: "'--name' 'a b' pyspark-shell" });
  });
  afterEach(end);

  it('starts the kernel with the options of the run, and delays a reply until all output has arrived', async () => {
    await state('idle');
    // The log uses another pipe than the frames.
    const begun = "['--name', 'a b', '--class', 'node.ScalaKernel', '/jars/scala-kernel.jar']";
    await until(() => log.includes(`begun with ${begun}`));
    execute('a', 'late output');
    expect(await replyTo('a')).toMatchObject({ status: 'ok' });
    const types = about('a').map((one) => one.message?.msg_type);
    expect(types.slice(0, 4)).toEqual(['status', 'stream', 'status', 'execute_reply']);
  });

  it('passes on requests that are larger than the buffer of a pipe', async () => {
    await state('idle');
    const code = 'length'.padEnd(5_000_000, 'x');
    execute('a', code);
    expect(await replyTo('a')).toMatchObject({ execution_count: code.length });
  });

  it('is protected from its kernel, which has the same user, while the kernel can access itself', async () => {
    await state('idle');
    execute('a', 'attack');
    expect(await replyTo('a')).toMatchObject({ opened: [], own: true });
  });

  it('reports what it leaves out, and replaces a reply that is too long by an error', async () => {
    await state('idle');
    execute('a', 'huge');
    expect(await replyTo('a')).toMatchObject({ status: 'error', ename: 'TooLong' });
    const [output] = about('a');
    expect(output?.message).toMatchObject({
      msg_type: 'stream',
      content: { text: expect.stringContaining('display_data') },
    });
  });

  it('answers pending requests when the kernel ends, and starts another one', async () => {
    await state('idle');
    message('asked', 'complete_request', '');
    execute('a', 'no reply');
    execute('b', 'late output');
    await until(() => about('a')[0]);
    ask({ op: 'restart', generation: 2 });
    expect(await replyTo('a')).toMatchObject({ status: 'error', ename: 'KernelRestarted' });
    expect(await replyTo('b')).toEqual({ status: 'aborted' });
    expect(await replyTo('asked')).toEqual({ status: 'aborted' });
    await until(() => frames.find((one) => one.generation === 2 && one.state === 'idle'));
    execute('c', 'end');
    execute('d', 'late output');
    expect(await replyTo('c')).toMatchObject({ ename: 'KernelDied', evalue: 'The kernel ended (exit code 3).' });
    expect(await state('dead')).toMatchObject({ generation: 2, reason: 'The kernel ended (exit code 3).' });
    // Pending and later requests get the reason, which is also shown as output.
    expect(await replyTo('d')).toMatchObject({ ename: 'KernelDied', evalue: 'The kernel ended (exit code 3).' });
    message('late', 'complete_request', '');
    expect(await replyTo('late')).toEqual({ status: 'aborted' });
    execute('e', 'late output');
    const why = expect.stringContaining('The kernel ended (exit code 3). Start or restart the kernel.') as string;
    expect(await replyTo('e')).toMatchObject({ status: 'error', ename: 'KernelDied', evalue: why });
    expect(about('e').map((one) => one.message?.msg_type)).toContain('error');
    ask({ op: 'restart', generation: 3 });
    await until(() => frames.find((one) => one.generation === 3 && one.state === 'idle'));
    execute('e', 'late output');
    await until(() => about('e').find((one) => one.message?.content['status'] === 'ok'));
  });

  it.each(['garbage', 'endless'])('ends a kernel that sends %s', async (code) => {
    await state('idle');
    execute('a', code);
    expect(await replyTo('a')).toMatchObject({ ename: 'KernelDied', evalue: 'The kernel ended (SIGTERM).' });
    expect(bridge.exitCode).toBeNull();
  });
});

/** A wheel of one pure module without dependencies, so that pip needs no index. */
const WHEEL = `
import zipfile
with zipfile.ZipFile("bugprobe-1.0-py3-none-any.whl", "w") as wheel:
    wheel.writestr("bugprobe.py", "value = 'installed'\\n")
    wheel.writestr("bugprobe-1.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: bugprobe\\nVersion: 1.0\\n")
    wheel.writestr("bugprobe-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr("bugprobe-1.0.dist-info/RECORD", "")
`;

describe('the kernel of Python', () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'kernel-bridge-'));
    const { javaHome, sparkHome } = preparedRuntime();
    const options = '--master local[2] --conf spark.ui.enabled=false --driver-memory 512m pyspark-shell';
    begin(['python'], {
      SPARK_HOME: sparkHome,
      JAVA_HOME: javaHome,
      PYSPARK_SUBMIT_ARGS: options,
      PYSPARK_PYTHON: preparedRuntime().python,
    });
    await state('idle');
  });
  afterAll(end);

  const says = async (msgId: string, code: string) => {
    execute(msgId, code);
    const reply = await replyTo(msgId);
    return { ...reply, text: textOf(msgId) };
  };

  const textOf = (msgId: string): string => {
    const contents = about(msgId).map((one) => one.message?.content ?? {});
    return contents.map((content) => (typeof content['text'] === 'string' ? content['text'] : '')).join('');
  };

  it('shows the output of child processes and of Java, but not the log of Spark', async () => {
    const shown = await says(
      'children',
      `import subprocess, os
subprocess.run(["echo", "from-child"]); os.system("echo from-system")
subprocess.run("echo to-stderr >&2", shell=True)
spark._jvm.System.out.println("from-java")
spark._jvm.org.slf4j.LoggerFactory.getLogger("probe").error("logged by Spark")
import time; time.sleep(0.5)`,
    );
    expect(shown).toMatchObject({ status: 'ok' });
    await until(() => (log.includes('logged by Spark') ? true : undefined));
    // Output of other processes may arrive after the reply.
    for (const line of ['from-child', 'from-system', 'to-stderr', 'from-java']) {
      await until(() => (textOf('children').includes(line) ? true : undefined));
    }
    expect(textOf('children')).not.toContain('logged by Spark');
  });

  it('replaces halves of surrogate pairs in printed texts, results and errors', async () => {
    expect(await says('printed', "print('a\\ud800b', '\\ud83d' + '\\ude00', '\\udce9', 'é')")).toMatchObject({
      status: 'ok',
      text: 'a\ufffdb 😀 \ufffd é\n',
    });
    expect(await says('raised', "raise ValueError('x\\ud8ffy')")).toMatchObject({
      status: 'error',
      ename: 'ValueError',
      evalue: 'x\ufffdy',
    });
    expect(about('raised').find((one) => one.message?.msg_type === 'error')?.message?.content).toMatchObject({
      evalue: 'x\ufffdy',
    });
    await says(
      'shown',
      "from IPython.display import display; display({'application/json': ['\\udfff', float('nan')]}, raw=True)",
    );
    expect(about('shown').find((one) => one.message?.msg_type === 'display_data')?.message?.content['data']).toEqual({
      'application/json': ['\ufffd', 'nan'],
    });
    // The request itself contains half a pair.
    expect(await says('asked', "print('\ud800')")).toMatchObject({ status: 'ok', text: '\ufffd\n' });
  });

  it('installs packages for this notebook only, including its Python workers', async () => {
    expect(await says('wheel', WHEEL)).toMatchObject({ status: 'ok' });
    // Python workers already run.
    const inWorkers = 'spark.sparkContext.parallelize([1], 1).map(lambda _: __import__("bugprobe").value).collect()';
    await says('workers', 'spark.sparkContext.parallelize([1], 1).map(lambda x: x + 1).collect()');
    const installed = await says('install', '%pip install --no-index --no-deps ./bugprobe-1.0-py3-none-any.whl');
    expect(installed.text).toContain('Successfully installed bugprobe-1.0');
    expect(
      await says('import', `import bugprobe; print(bugprobe.value, bugprobe.__file__, ${inWorkers})`),
    ).toMatchObject({
      text: `installed ${folder}/site-packages/bugprobe.py ['installed']\n`,
    });
  });

  it('interrupts the jobs of a session that the notebook created, repeatedly', async () => {
    const own = `spark.stop()
from pyspark.sql import SparkSession
spark = SparkSession.builder.appName("mine").getOrCreate()
spark.range(1).count()`;
    expect(await says('own', own)).toMatchObject({ status: 'ok' });
    for (const round of ['1', '2', '3', '4']) {
      execute(`long-${round}`, ENDLESS_JOB);
      await until(() => about(`long-${round}`).find((one) => one.message?.msg_type === 'stream'));
      ask({ op: 'interrupt' });
      expect(await replyTo(`long-${round}`)).toMatchObject({ status: 'error', ename: 'KeyboardInterrupt' });
      expect(await says(`next-${round}`, 'print(spark.range(10).count())')).toMatchObject({ text: '10\n' });
    }
    expect(log).not.toContain('Custom TB Handler failed');
  });

  it('ends with a reason when the JVM of Spark ends, and restarts with its packages', async () => {
    await says('kill', 'import os, time; os.kill(spark.sparkContext._gateway.proc.pid, 9); time.sleep(60)');
    const why = 'The kernel ended. The JVM of Spark ended (SIGKILL). Its node may lack memory.';
    expect(await replyTo('kill')).toMatchObject({ ename: 'KernelDied', evalue: why });
    expect(await state('dead')).toMatchObject({ generation: 1, reason: why });
    ask({ op: 'restart', generation: 2 });
    await until(() => frames.find((one) => one.generation === 2 && one.state === 'idle'));
    expect(await says('again', 'import bugprobe; print(bugprobe.value, spark.range(3).count())')).toMatchObject({
      text: 'installed 3\n',
    });
    await says('exit', 'exit()');
    await until(() => frames.find((one) => one.generation === 2 && one.state === 'dead'));
    expect(await says('late', '1')).toMatchObject({
      ename: 'KernelDied',
      evalue: expect.stringContaining('exit code 0'),
    });
  });
});
