import { CellFailed, type Cell, ConfigurationError, RunFailed } from './face.ts';
import { caught, ok, page, refused, TestPlatform, withoutPauses } from './testing/platform.ts';

describe('Workspace', () => {
  let platform: TestPlatform;

  beforeEach(() => {
    withoutPauses();
    platform = new TestPlatform();
  });

  const script = { name: 'sum.py', content: 'print(1)' };
  const parsed = (index: number): unknown => JSON.parse(platform.bodies[index] ?? '');

  it('uploads a script, changes the job that exists, and submits a run', async () => {
    platform.answers = [ok({ workspace_id: 3, name: 'demo' }), ok({ full_file_path: 'sum.py', workspace_id: '3' })];
    platform.answers.push(
      refused(409, 'RECORD.DUPLICATE_NAME'),
      ok({}, 201),
      ok({ job_conf_id: 4 }),
      ok({ job_id: '8' }),
    );
    const run = await platform
      .client()
      .workspace('demo')
      .run(script, { cluster: 'c', args: ['a b', 'c', "it's"], driver_memory: '512m', idempotencyKey: 'nightly' });
    expect(run.id).toBe(8);
    expect(platform.bodies[1]).toBe('print(1)');
    expect(platform.requests[1]?.headers.get('Content-Type')).toBe('application/octet-stream');
    const settings = { command: 'sum.py', cluster_name: 'c', driver_memory: '512m' };
    expect(parsed(2)).toEqual({ ...settings, name: 'sum', job_type: 'Python3' });
    expect(parsed(3)).toEqual(settings);
    expect(new URL(platform.requests[3]?.url ?? '').searchParams.get('job_conf_name')).toBe('sum');
    expect(parsed(5)).toEqual({ job_conf_name: 'sum', arguments: `'a b' c 'it'"'"'s'` });
    expect(platform.requests[5]?.headers.get('Idempotency-Key')).toBe('nightly');
  });

  it('asks once for the id of a named workspace, and never for one with a number', async () => {
    platform.handler = ({ url }) => (url.includes('/workspace?') ? ok({ workspace_id: 3 }) : page([]));
    const named = platform.client().workspace('demo');
    for (const workspace of [named, named, platform.client().workspace(5)]) {
      expect(await workspace.jobs.list({ status: 'RUNNING' }).next()).toMatchObject({ done: true });
    }
    const jobs = (id: number) => `/workspace/${id}/spark/jobs`;
    expect(platform.paths).toEqual(['/workspace', jobs(3), jobs(3), jobs(5)]);
  });

  it('asks again for a workspace that was not found', async () => {
    platform.answers = [refused(404, 'WORKSPACE.NOT_FOUND'), ok({ workspace_id: 3 })];
    const workspace = platform.client().workspace('demo');
    expect(await caught(workspace.id())).toMatchObject({ code: 'WORKSPACE.NOT_FOUND' });
    expect(await workspace.id()).toBe(3);
  });

  it('rejects a file that is not a script', async () => {
    const failure = await caught(platform.client().workspace(3).run({ name: 'a.txt', content: '' }, { cluster: 1 }));
    expect(failure).toBeInstanceOf(ConfigurationError);
    expect(failure.message).toBe('a.txt is not a script: its name must end with .py, .jar or .sql.');
  });

  it('names a job by the letters of its file without their accents, and asks for a name if there are none', async () => {
    platform.answers = [ok({ full_file_path: 'f', workspace_id: '3' }), ok({}), ok({}), ok({ job_id: '7' })];
    await platform.client().workspace(3).run({ name: 'Überblick für März.py', content: '' }, { cluster: 1 });
    expect(parsed(1)).toMatchObject({ name: 'uberblick-fur-marz' });
    const failure = await caught(platform.client().workspace(3).run({ name: '日本.py', content: '' }, { cluster: 1 }));
    expect(failure).toBeInstanceOf(ConfigurationError);
  });

  it('serves a function, and calls it once', async () => {
    const running = ok({ job_id: 9, job_status: 'RUNNING' });
    platform.answers = [
      ok({ full_file_path: 'serve-double/serve.py' }),
      ok({}, 201),
      ok({}),
      ok({ job_id: 9 }),
      running,
    ];
    const double = await platform
      .client()
      .workspace(3)
      .function({ name: 'serve.py', content: 'def double(r): ...' }, 'double', { cluster: 'c' });
    const settings = {
      platform_functions_function_name: 'double',
      platform_functions_script_path: 'serve-double/serve.py',
    };
    expect(parsed(1)).toMatchObject({ ...settings, name: 'serve-double', job_type: 'PLATFORM_FUNCTIONS' });
    platform.answers = [ok({ twice: 42 })];
    expect(await double({ x: 21 })).toEqual({ twice: 42 });
    expect(parsed(5)).toEqual({ x: 21 });
    platform.answers = [refused(503, 'X.Y')];
    expect(await caught(double({ x: 1 }))).toMatchObject({ code: 'X.Y' });
    platform.answers = [ok({}), ok({ job_id: 9, job_status: 'KILLED' })];
    await double.stop();
    expect(platform.paths.at(-2)).toBe('/workspace/3/spark/job/kill/9');
  });

  it('changes a secret that exists, and creates another', async () => {
    platform.handler = ({ method }) => (method === 'GET' ? page([{ name: 'token', workspace_secret_id: 4 }]) : ok({}));
    const { secrets } = platform.client().workspace(3);
    await secrets.put('token', 'v');
    await secrets.put('other', 'w');
    const changes = platform.requests
      .filter(({ method }) => method !== 'GET')
      .map(({ method, url }) => [method, new URL(url).search]);
    expect(changes).toEqual([
      ['PUT', '?workspace_id=3&workspace_secret_id=4'],
      ['POST', '?workspace_id=3'],
    ]);
  });

  describe('with a notebook', () => {
    let sockets: FakeSocket[];
    /** Says what each socket in turn does with a request. */
    let kernels: ((socket: FakeSocket, id: string) => void)[];

    beforeEach(() => {
      sockets = [];
      kernels = [];
    });

    const notebook = () => {
      platform.answers = [ok({}, 201), ok({ notebook_id: 6 }), ok({ notebook_status: 'RUNNING' })];
      const openSocket = (url: string) => {
        const socket = new FakeSocket(url, kernels[sockets.length]);
        sockets.push(socket);
        return socket as unknown as WebSocket;
      };
      return platform.client({ openSocket }).workspace(3).notebook('sdk', { cluster: 'c' });
    };

    it('executes a cell once although the socket breaks, and shows its output meanwhile', async () => {
      kernels = [
        (socket, id) => {
          socket.say('stream', id, { text: 'hel' });
          socket.close();
        },
        (socket, id) => {
          socket.say('stream', 'another', { text: 'not mine' });
          socket.say('stream', id, { text: 'lo' });
          socket.say('execute_result', id, { data: { 'text/plain': '3' } });
          socket.say('execute_reply', id, { status: 'ok' });
        },
      ];
      const seen: string[] = [];
      const cell = await (await notebook()).execute('1 + 2', { onOutput: ({ text }: Cell) => seen.push(text) });
      expect([cell.text, cell.value]).toEqual(['hello', '3']);
      expect(seen).toEqual(['hel', 'hel', 'hello', 'hello', 'hello']);
      const [first, second] = sockets.map(({ sent }) => JSON.parse(sent[0] ?? '') as object);
      expect(first).toEqual(second);
      expect(first).toMatchObject({ header: { msg_type: 'execute_request' }, content: { code: '1 + 2' } });
      expect(sockets[0]?.url).toMatch(
        /^wss:\/\/spark\.test\/api\/v1\/workspace\/3\/notebook\/6\/kernel\/ws\/[\da-f]{32}_session\/t-1$/,
      );
    });

    it('throws the exception of a cell', async () => {
      const content = { status: 'error', ename: 'KeyError', evalue: "'x'", traceback: ['line'] };
      kernels = [(socket, id) => socket.say('execute_reply', id, content)];
      const failure = await caught((await notebook()).execute('{}["x"]'));
      expect(failure).toBeInstanceOf(CellFailed);
      expect(failure).toMatchObject({ message: "KeyError: 'x'", traceback: ['line'] });
    });

    it('says why a notebook that has ended refuses the socket', async () => {
      kernels = [];
      const opened = await notebook();
      platform.answers = [ok({ notebook_status: 'ERROR', reason_code: 'NODE_LOST', reason: 'The node is gone.' })];
      const failure = await caught(opened.execute('1'));
      expect(failure).toBeInstanceOf(RunFailed);
      expect(failure.message).toBe('Notebook 6 is ERROR: The node is gone. Run the job again.');
    });
  });
});

/** A socket that opens if somebody answers on it. */
class FakeSocket extends EventTarget {
  readonly sent: string[] = [];
  readyState = 0;
  readonly url: string;
  readonly #kernel: ((socket: FakeSocket, id: string) => void) | undefined;

  constructor(url: string, kernel: ((socket: FakeSocket, id: string) => void) | undefined) {
    super();
    this.url = url;
    this.#kernel = kernel;
    queueMicrotask(() => {
      if (!kernel) return this.close();
      this.readyState = 1;
      this.dispatchEvent(new Event('open'));
    });
  }

  send(text: string): void {
    this.sent.push(text);
    const { header } = JSON.parse(text) as { header: { msg_id: string } };
    this.#kernel?.(this, header.msg_id);
  }

  say(msg_type: string, msg_id: string, content: object): void {
    this.dispatchEvent(
      new MessageEvent('message', { data: JSON.stringify({ msg_type, parent_header: { msg_id }, content }) }),
    );
  }

  close(): void {
    this.readyState = 3;
    this.dispatchEvent(Object.assign(new Event('close'), { code: 1006, reason: '' }));
  }
}
