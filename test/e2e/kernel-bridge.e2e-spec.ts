import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { RecordReader, RecordWriter } from '../../libs/node-agent/channel-files';
import { eventually } from '../harness/eventually';
import { preparedRuntime } from '../harness/prepared-runtime';

const PROGRAM = resolve(__dirname, '..', '..', 'libs', 'run-bridges', 'kernel_bridge.py');

/** In the place of Spark and its Scala kernel: does what it is asked to, which no kernel should. */
const KERNEL = `#!/usr/bin/env python3
import json, os, struct, sys, uuid
requests, said = open(sys.argv[-2], "rb"), open(sys.argv[-1], "wb", buffering=0)

def record(frame):
    payload = json.dumps(frame).encode()
    said.write(struct.pack(">I", len(payload)) + payload)

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
        said.write(struct.pack(">I", 12) + b"no message {")
    elif code == "endless":
        said.write(struct.pack(">I", 0x7fffffff) + b"x")
    elif code == "huge":
        say("display_data", header, data={}, metadata={"x": "x" * 17_000_000})
        say("execute_reply", header, status="ok", payload="x" * 17_000_000)
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

let folder: string;
let bridge: ChildProcess;
let writer: RecordWriter;
let reader: RecordReader;
let sent: number;
let frames: Frame[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kernel-bridge-'));
  const [requests, said] = [join(folder, 'requests'), join(folder, 'frames')];
  for (const file of [requests, said]) writeFileSync(file, '');
  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, 'bin', 'spark-submit'), KERNEL);
  chmodSync(join(folder, 'bin', 'spark-submit'), 0o755);
  const fds = [openSync(requests, 'r'), openSync(said, 'a')];
  const env = { PATH: process.env['PATH'], SPARK_HOME: folder, PYSPARK_SUBMIT_ARGS: "'--name' 'a b' pyspark-shell" };
  bridge = spawn(preparedRuntime().python, [PROGRAM, 'scala', '/jars'], {
    cwd: folder,
    env: { ...env, TMPDIR: folder, PYTHONDONTWRITEBYTECODE: '1' },
    stdio: ['ignore', 'inherit', 'pipe', ...fds],
  });
  fds.forEach(closeSync);
  writer = new RecordWriter(requests);
  reader = new RecordReader(said, 1);
  sent = 0;
  frames = [];
});

afterEach(async () => {
  if (bridge.exitCode === null) {
    const ended = new Promise((done) => bridge.once('exit', done));
    bridge.kill('SIGTERM');
    await ended;
  }
  rmSync(folder, { recursive: true, force: true });
});

function ask(request: object): void {
  sent += 1;
  writer.append([{ number: sent, payload: Buffer.from(JSON.stringify(request)) }], 0, reader.acknowledged);
}

function message(msgId: string, type: string, code: string): void {
  ask({ op: 'message', generation: 9, message: { header: { msg_id: msgId, msg_type: type }, content: { code } } });
}

const execute = (msgId: string, code: string) => message(msgId, 'execute_request', code);

/** What of the frames is wanted, once there is something. */
function until<T>(wanted: (frames: readonly Frame[]) => T | undefined): Promise<T> {
  const look = () => {
    const read = reader.read(64 * 1024 * 1024);
    frames.push(...read.map(({ payload }) => JSON.parse(payload.toString('utf8')) as Frame));
    return Promise.resolve(wanted(frames));
  };
  return eventually(look, { timeoutMs: 90_000, everyMs: 10 });
}

const about = (msgId: string) => frames.filter((one) => one.message?.parent_header.msg_id === msgId);
const replyTo = (msgId: string) =>
  until(() => about(msgId).find((one) => one.message?.msg_type.endsWith('_reply'))?.message?.content);
const state = (wanted: string) => until(() => frames.find((one) => one.state === wanted));

it('begins the kernel with the options of the run, and holds a reply until all output is there', async () => {
  const log = new Promise<string>((done) => bridge.stderr?.once('data', (text: Buffer) => done(text.toString())));
  await state('idle');
  expect(await log).toContain(
    "begun with ['--name', 'a b', '--class', 'node.ScalaKernel', '/jars/scala-kernel.jar', '/jars/toree.jar']",
  );
  execute('a', 'late output');
  expect(await replyTo('a')).toMatchObject({ status: 'ok' });
  const types = about('a').map((one) => one.message?.msg_type);
  expect(types.slice(0, 4)).toEqual(['status', 'stream', 'status', 'execute_reply']);
});

it('brings requests that are longer than a pipe', async () => {
  await state('idle');
  const code = 'length'.padEnd(5_000_000, 'x');
  execute('a', code);
  expect(await replyTo('a')).toMatchObject({ execution_count: code.length });
});

it('says what it leaves out, and that in the place of a reply that is too long', async () => {
  await state('idle');
  execute('a', 'huge');
  expect(await replyTo('a')).toMatchObject({ status: 'error', ename: 'TooLong' });
  const [output] = about('a');
  expect(output?.message).toMatchObject({
    msg_type: 'stream',
    content: { text: expect.stringContaining('display_data') },
  });
});

it('answers what waits when the kernel ends, and begins another one', async () => {
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
  expect(await replyTo('c')).toMatchObject({ ename: 'KernelDied', evalue: 'The kernel ended (exit code 3).' });
  expect(await state('dead')).toMatchObject({ generation: 2, reason: 'The kernel ended (exit code 3).' });
  message('late', 'complete_request', '');
  expect(await replyTo('late')).toEqual({ status: 'aborted' });
});

it.each(['garbage', 'endless'])('ends a kernel that sends %s', async (code) => {
  await state('idle');
  execute('a', code);
  expect(await replyTo('a')).toMatchObject({ ename: 'KernelDied', evalue: 'The kernel ended (SIGTERM).' });
  expect(bridge.exitCode).toBeNull();
});
