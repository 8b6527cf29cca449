import { readFileSync } from 'node:fs';
import { encodeRecords } from '../../libs/contracts/channel-records';
import { eventually } from '../harness/eventually';
import { KernelTestClient } from '../harness/kernel-client';
import { insertPlain, makeTenancy, type Tenancy } from '../medium/harness/records';
import { type Caller, People } from '../medium/harness/people';
import { TestAgent } from '../medium/harness/test-agent';
import { wholeApi } from '../medium/harness/test-api';

const MIB = 1024 * 1024;

// Real: the whole API and PostgreSQL. Left out: the agents and their kernels, which the test plays.
describe('a hostile kernel or client of a kernel socket', () => {
  const api = wholeApi({ HTTP_MAX_JSON_BYTES: String(MIB) });
  const people = new People(api);
  let tenancy: Tenancy;
  let agent: TestAgent;
  let admin: Caller;
  let runId: number;
  const clients: KernelTestClient[] = [];

  beforeEach(async () => {
    tenancy = await makeTenancy(api.database.manager, people.unique('tenancy'));
    admin = await people.admin(tenancy.tenantId);
    agent = await TestAgent.ofNewNode(api, tenancy);
    runId = await notebook();
  });

  afterEach(() => clients.splice(0).forEach(({ socket }) => socket.terminate()));

  async function notebook(): Promise<number> {
    const id = await agent.assignRun(tenancy, undefined, 'NOTEBOOK');
    await api.database.query(`UPDATE runs SET kind = 'notebook', status = 'RUNNING' WHERE run_id = $1`, [id]);
    await insertPlain(api.database.manager, 'kernels', { run_id: id, tenant_id: tenancy.tenantId, state: 'idle' });
    return id;
  }

  const url = (id: number, token: string, workspace = tenancy.workspaceId) =>
    api.urlOf(`/workspace/${workspace}/notebook/${id}/kernel/ws/any_session/${token}`);
  async function connect(id = runId, by = admin): Promise<KernelTestClient> {
    const client = await KernelTestClient.open(url(id, by.token));
    clients.push(client);
    return client;
  }
  const closed = (client: KernelTestClient) => eventually(() => Promise.resolve(client.code));
  const works = async () => {
    const client = await connect();
    const id = `works-${Math.random()}`;
    client.execute(id, '1');
    await eventually(async () => {
      const [row] = await api.database.query('SELECT 1 FROM kernel_requests WHERE msg_id = $1', [id]);
      return row;
    });
  };
  const say = async (...payloads: Buffer[]) => {
    const [log] = await api.database.query<{ last: number }[]>('SELECT last FROM run_frame_logs WHERE run_id = $1', [
      runId,
    ]);
    const first = (log?.last ?? 0) + 1;
    const body = encodeRecords(payloads.map((payload, at) => ({ number: first + at, payload })));
    expect((await agent.send('PUT', `/runs/${runId}/frames`, { body })).status).toBe(200);
  };

  it('is disconnected for malformed messages, and nobody else is', async () => {
    const other = await connect();
    for (const nonsense of ['', 'nonsense', '[]', 'null', '{}', '{"header":{"msg_type":"execute_request"}}']) {
      const client = await connect();
      client.socket.send(nonsense);
      expect(await closed(client)).toBe(1008);
    }
    const binary = await connect();
    binary.socket.send(Buffer.from([1, 2, 3]));
    expect(await closed(binary)).toBe(1003);
    const long = await connect();
    long.execute('x'.repeat(129), '1');
    expect(await closed(long)).toBe(1008);
    const huge = await connect();
    huge.socket.send('x'.repeat(100 * MIB), () => undefined);
    expect([1006, 1009]).toContain(await closed(huge));
    expect(other.code).toBeNull();
    await works();
  });

  it('cannot execute anything with messages of other types', async () => {
    const client = await connect();
    for (const type of ['shutdown_request', 'input_reply', 'comm_open', '__proto__', 'toString']) {
      client.socket.send(JSON.stringify({ msg_type: type, msg_id: type, content: {} }));
    }
    await works();
    expect(client.code).toBeNull();
    const [{ count }] = await api.database.query('SELECT count(*) FROM run_requests WHERE run_id = $1', [runId]);
    expect(Number(count)).toBe(1);
  });

  it('sends more requests than the queue holds and delays only its own', async () => {
    const client = await connect();
    for (let at = 0; at < 2_000; at += 1) client.execute(`cell-${at}`, '1');
    await eventually(() => Promise.resolve(client.replies('cell-1999')[0]), { timeoutMs: 240_000 });
    expect(client.replies('cell-1999')[0]?.content).toMatchObject({
      status: 'error',
      ename: 'KERNEL.TOO_MANY_REQUESTS',
    });
    const [{ count }] = await api.database.query('SELECT count(*) FROM kernel_requests WHERE run_id = $1', [runId]);
    expect(Number(count)).toBe(1_000);
  });

  it('cannot reach the kernel of another workspace or tenant', async () => {
    const strange = await makeTenancy(api.database.manager, people.unique('strange'));
    const stranger = await people.admin(strange.tenantId);
    await expect(KernelTestClient.open(url(runId, stranger.token))).rejects.toThrow('404');
    await expect(KernelTestClient.open(url(runId, stranger.token, strange.workspaceId))).rejects.toThrow('404');
    await expect(KernelTestClient.open(url(runId, '%00%0a'))).rejects.toThrow(/40[01]/);
    await expect(KernelTestClient.open(url(runId, '%E0%A4%A'))).rejects.toThrow(/40[01]/);
  });

  describe('that is a page in the browser of a user', () => {
    const own = () => new URL(api.urlOf('/')).origin;
    const address = () => api.urlOf(`/workspace/${tenancy.workspaceId}/notebook/${runId}/kernel/socket`);
    const withCookie = (headers: Record<string, string>) =>
      KernelTestClient.open(address(), { cookie: `session=${admin.token}`, ...headers });

    it('opens a socket from this server, which executes, and is closed when the session ends', async () => {
      const pages: Record<string, string>[] = [{ origin: own() }, { origin: own(), 'sec-fetch-site': 'same-origin' }];
      for (const headers of pages) {
        const client = await withCookie(headers);
        clients.push(client);
        client.execute(`cookie-${Math.random()}`, '1');
      }
      await eventually(async () => {
        const [row] = await api.database.query(
          `SELECT count(*) AS n FROM kernel_requests WHERE run_id = $1 AND msg_id LIKE 'cookie-%'`,
          [runId],
        );
        return Number(row.n) === 2;
      });
      const headers = { cookie: `session=${admin.token}`, 'sec-fetch-site': 'same-origin', 'x-console': '1' };
      expect((await api.call('DELETE', '/browser/session', { headers })).status).toBe(200);
      const codes = await Promise.all(clients.map(closed));
      expect(codes).toEqual([1008, 1008]);
      await expect(withCookie({ origin: own() })).rejects.toThrow('401');
    });

    it('opens none from another site, without a cookie, or by a page that says nothing of itself', async () => {
      const foreign: Record<string, string>[] = [
        { origin: 'https://evil.test' },
        { origin: 'null' },
        { origin: `${own()}.evil.test` },
        { origin: own(), 'sec-fetch-site': 'cross-site' },
        { origin: own(), 'sec-fetch-site': 'same-site' },
        { 'sec-fetch-site': 'same-origin' },
        { 'x-console': '1' },
        {},
      ];
      for (const headers of foreign) await expect(withCookie(headers)).rejects.toThrow('401');
      await expect(KernelTestClient.open(address(), { origin: own() })).rejects.toThrow('401');
      const foreignToken = { origin: 'https://evil.test', authorization: `Bearer ${admin.token}` };
      await expect(KernelTestClient.open(address(), foreignToken)).rejects.toThrow('403');
    });

    it('opens none to the kernel of another tenant, nor with a token that anybody can read in its address', async () => {
      const stranger = await people.admin((await makeTenancy(api.database.manager, people.unique('strange'))).tenantId);
      await expect(withCookie({ origin: own(), cookie: `session=${stranger.token}` })).rejects.toThrow('404');
      await expect(KernelTestClient.open(`${address()}?token=${admin.token}`, { origin: own() })).rejects.toThrow(
        '401',
      );
    });
  });

  it('sends messages that no kernel would, and changes only its own notebook', async () => {
    const client = await connect();
    const other = await notebook();
    const message = (more: object) => Buffer.from(JSON.stringify({ op: 'message', generation: 1, ...more }));
    await say(
      Buffer.alloc(0),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('[]'),
      Buffer.from('{"op":"kernel","generation":1e300,"state":"dead"}'),
      Buffer.from('{"op":"kernel","generation":2000000000,"state":"dead"}'),
      Buffer.from('{"op":"kernel","generation":1,"state":"exploded"}'),
      Buffer.from(JSON.stringify({ op: 'kernel', generation: 1, state: 'dead', reason: '\0\ud800'.repeat(10_000) })),
      message({ message: null }),
      message({ message: { msg_type: 'execute_reply', parent_header: { msg_id: 'never asked' }, content: [] } }),
      message({ message: { msg_type: 'stream', parent_header: { msg_id: 7 }, content: { name: 'stdout', text: {} } } }),
      message({ message: { msg_type: 'display_data', parent_header: { msg_id: 'x' }, content: { data: 'no' } } }),
      message({ message: { msg_type: 'status', header: {}, parent_header: {}, content: { execution_state: 'idle' } } }),
    );
    await eventually(() => Promise.resolve(client.messages.some(({ msg_type: type }) => type === 'status')));
    const kernels = await api.database.query<{ run_id: number; state: string; generation: number }[]>(
      'SELECT run_id, state, generation FROM kernels WHERE run_id = ANY($1)',
      [[runId, other]],
    );
    expect(new Map(kernels.map((one) => [Number(one.run_id), [one.state, one.generation]]))).toEqual(
      new Map([
        [runId, ['dead', 1]],
        [other, ['idle', 1]],
      ]),
    );
  });

  it('finds no token in the stored requests', async () => {
    await works();
    const [{ found }] = await api.database.query(
      `SELECT count(*) AS found FROM audit_events WHERE audit_events::text LIKE $1`,
      [`%${admin.token}%`],
    );
    expect(Number(found)).toBe(0);
    const file = process.env['TEST_LOG_FILE'];
    if (file) expect(readFileSync(file, 'utf8')).not.toContain(admin.token);
  });
});
