import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NumberedPayload } from '../contracts/channel-records';
import { RecordReader, RecordWriter } from '../node-agent/channel-files';

/** Responds to a number of requests, each with its length and itself. */
const ECHO = `
import sys
sys.path.insert(0, sys.argv[1])
from run_channel import RunChannel
channel = RunChannel()
for _ in range(int(sys.argv[2])):
    payload = channel.receive(30)
    channel.send(b"%d:" % len(payload) + payload)
`;

/** Sends three payloads at once, and one more. */
const SAY = `
import sys
sys.path.insert(0, sys.argv[1])
from run_channel import RunChannel
channel = RunChannel()
channel.send(b"one", b"", b"three")
channel.send(b"four")
`;

const hasPython = spawnSync('python3', ['--version']).status === 0;

// Both ends of the channel are real, Python's and the agent's, over files.
(hasPython ? describe : describe.skip)('the channel of a process in Python', () => {
  let folder: string;
  const requests = () => join(folder, 'requests');
  const frames = () => join(folder, 'frames');

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'channel-'));
    for (const file of [requests(), frames()]) writeFileSync(file, '');
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  function echo(count: number) {
    const fds = [openSync(requests(), 'r'), openSync(frames(), 'a')];
    const child = spawn('python3', ['-c', ECHO, __dirname, String(count)], {
      stdio: ['ignore', 'inherit', 'inherit', ...fds],
    });
    fds.forEach(closeSync);
    return new Promise<number | null>((resolve) => child.once('exit', resolve));
  }

  /** Sends some payloads at once, as an agent does, and the next ones after all responses. */
  async function carry(payloads: readonly Buffer[], atOnce: number): Promise<NumberedPayload[]> {
    const ended = echo(payloads.length);
    const writer = new RecordWriter(requests());
    const reader = new RecordReader(frames(), 1);
    const said: NumberedPayload[] = [];
    let sent = 0;
    const until = Date.now() + 60_000;
    while (said.length < payloads.length && Date.now() < until) {
      if (said.length === sent && sent < payloads.length) {
        const next = payloads.slice(sent, sent + atOnce).map((payload, at) => ({ number: sent + at + 1, payload }));
        writer.append(next, said.length, reader.acknowledged);
        sent += next.length;
      }
      said.push(...reader.read(4 * 1024 * 1024));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await ended).toBe(0);
    return said;
  }

  it('receives requests in order and numbers its frames', async () => {
    const said = await carry([Buffer.from('one'), Buffer.alloc(0), Buffer.from('three')], 3);
    expect(said.map(({ number, payload }) => [number, payload.toString()])).toEqual([
      [1, '3:one'],
      [2, '0:'],
      [3, '5:three'],
    ]);
  });

  it('sends many frames at once, in order', () => {
    const fds = [openSync(requests(), 'r'), openSync(frames(), 'a')];
    execFileSync('python3', ['-c', SAY, __dirname], { stdio: ['ignore', 'inherit', 'inherit', ...fds] });
    fds.forEach(closeSync);
    const said = new RecordReader(frames(), 1).read(1024);
    expect(said.map(({ number, payload }) => [number, payload.toString()])).toEqual([
      [1, 'one'],
      [2, ''],
      [3, 'three'],
      [4, 'four'],
    ]);
  });

  it('truncates long files without loss', async () => {
    const payloads = Array.from({ length: 60 }, (_, at) => Buffer.alloc(1024 * 1024, at));
    const said = await carry(payloads, 2);
    expect(
      said.every(({ payload }, at) => payload.subarray(payload.indexOf(':') + 1).equals(payloads[at] as Buffer)),
    ).toBe(true);
    expect(statSync(requests()).size).toBeLessThan(20 * 1024 * 1024);
    expect(statSync(frames()).size).toBeLessThan(20 * 1024 * 1024);
  });

  it('ends at data that no agent wrote', () => {
    writeFileSync(requests(), 'x'.repeat(100));
    expect(() =>
      execFileSync(
        'sh',
        ['-c', `exec python3 -c "$4" "$1" 1 3<"$2" 4>>"$3"`, 'sh', __dirname, requests(), frames(), ECHO],
        {
          stdio: 'pipe',
        },
      ),
    ).toThrow('data that no agent writes');
  });
});
