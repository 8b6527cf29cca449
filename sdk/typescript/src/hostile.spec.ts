import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Cell } from './cells.ts';
import { ConfigurationError, Unreachable } from './errors.ts';
import { RunFailed } from './failures.ts';
import * as operations from './generated/operations.ts';
import { nodeHost } from './node/host.ts';
import { PasswordSession, TokenSession } from './sessions.ts';
import { caught, ok, page, TestPlatform, withoutPauses } from './testing/platform.ts';

const MIB = 1 << 20;

// Hostile servers, users and kernels.
describe('a client', () => {
  let platform: TestPlatform;

  beforeEach(() => {
    platform = new TestPlatform();
    withoutPauses();
  });

  it('does not let the reason of a run command a terminal', () => {
    const reason = 'a\u001b[2Jb\u001b]0;title\u0007c\u009b5n\r\u202eend\nnext';
    const failure = new RunFailed({ kind: 'Job', id: 7, status: 'ERROR', code: null, reason, logUrl: '' });
    expect(failure.message).toBe('Job 7 is ERROR: a [2Jb ]0;title c 5n  end\nnext.');
    expect(failure.reason).toBe(reason);
  });

  it.each(['secret\n', 'se cret', 'secret\r\nX: y', 'sécret'])(
    'does not show a token that no header holds: %j',
    async (token) => {
      expect(() => new TokenSession(token)).toThrow(
        /^The token is invalid: it contains a space, a line break or another character/,
      );
      platform.answers = [ok({ token })];
      const transport = platform.transport(new PasswordSession({ username: 'ada', password: 'p' }));
      const failure = await caught(transport.call(operations.getUserInfo));
      expect(failure).toBeInstanceOf(ConfigurationError);
      expect(failure.message).not.toContain('cret');
    },
  );

  it.each([1, 0, -1, '2', null])('reads no page again after %p', async (next) => {
    platform.handler = () => page([{ cluster_id: 1 }], next as number);
    const found = platform.transport().pages(operations.listClusters);
    expect((await found.next()).done).toBe(false);
    expect((await found.next()).done).toBe(true);
    expect(platform.requests).toHaveLength(1);
  });

  it.each([
    [false, 10, 10],
    [false, 10, 3],
    [true, 10, 10],
    [true, 10, 30],
  ])('searches no part of a log again: backward %p, from %p to %p', async (backward, ...offsets) => {
    const answers = [...offsets, null];
    platform.handler = () => ok({ matches: [], next_offset: answers.shift() });
    const found = platform.client().run(3, 7).searchLog('x', 'stdout', { backward });
    expect((await found.next()).done).toBe(true);
    expect(platform.requests).toHaveLength(2);
  });

  it.each([200, 500])('does not read a body without end, of an answer with %p', async (status) => {
    let given = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        given += 1;
        if (given > 400) controller.close();
        else controller.enqueue(new Uint8Array(MIB).fill(32));
      },
    });
    platform.answers = [new Response(endless, { status, headers: { 'Content-Type': 'application/json' } })];
    const failure = await caught(platform.transport().call(operations.getUserInfo));
    expect(failure.message).toBe(
      status === 200
        ? 'The answer of this server is larger than 256 MiB, the limit of the client.'
        : 'The platform answered 500.',
    );
    expect(failure instanceof Unreachable).toBe(status === 200);
    expect(given).toBeLessThan(270);
  });

  it('keeps a part of what a cell displays without end', () => {
    const cell = new Cell('c');
    const send = (msg_type: string, content: object) => cell.add({ msg_type, parent_header: { msg_id: 'c' }, content });
    const [text, html] = ['x'.repeat(MIB), 'x'.repeat(8 * MIB)];
    for (let sent = 0; sent < 20; sent += 1) {
      send('stream', { text });
      send('display_data', { data: { 'text/html': html } });
    }
    expect([cell.text.length, cell.displays.length]).toEqual([16 * MIB, 8]);
  });

  it.each([null, {}, { parent_header: null }, { msg_type: 'stream', parent_header: { msg_id: 'c' }, content: null }])(
    'takes any message of a kernel: %j',
    (message) => expect(new Cell('c').add(message as Parameters<Cell['add']>[0])).toBe(false),
  );

  it('downloads past a link that is in its way', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hostile-'));
    try {
      const [target, mine] = [join(folder, 'data.csv'), join(folder, 'mine')];
      writeFileSync(mine, 'mine');
      symlinkSync(mine, `${target}.part`);
      await nodeHost().save(target, new Blob(['theirs']).stream());
      expect([readFileSync(target, 'utf8'), readFileSync(mine, 'utf8')]).toEqual(['theirs', 'mine']);
      const broken = new ReadableStream<Uint8Array<ArrayBuffer>>({
        pull: (controller) => controller.error(new Error('reset')),
      });
      await expect(nodeHost().save(target, broken)).rejects.toThrow('reset');
      expect(readdirSync(folder)).toHaveLength(3);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
