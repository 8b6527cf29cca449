import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { AccessTokens } from '../../src/modules/foundation/iam/sessions/access-tokens';
import { SessionsRepository } from '../../src/modules/foundation/iam/sessions/sessions.repository';
import { WorkspacesRepository } from '../../src/modules/execution/workspaces/workspaces.repository';
import { type Role, ROLES, type WorkspacePermission } from '../../src/platform/kernel/auth/roles';
import { eventually } from '../harness/eventually';
import { LiveOperations } from './harness/live-operations';
import { type Opened, openDownload, openSocket, openUpload } from './harness/opened';
import { insertPlain } from './harness/records';
import { startWholeApi, type TestApi } from './harness/test-api';

/** The next check ends connections without access, and there are two checks per second. */
const MAX_CHECKS = 3;
const PERMISSIONS: WorkspacePermission[] = ['VIEW', 'RUN', 'EDIT', 'MANAGE'];

interface Caller {
  userId: number;
  sessionId: string;
  headers: { authorization: string };
}

interface World {
  tenantId: string;
  workspaceId: number;
  workspaceName: string;
  caller: Caller;
}

// Real: the whole API, PostgreSQL, and the operations of a module that the test adds.
describe('an open connection', () => {
  let api: TestApi;
  let stop: (() => Promise<void>) | undefined;
  const opened: Opened[] = [];

  beforeAll(async () => {
    ({ api, stop } = await startWholeApi({}, [LiveOperations]));
  });

  afterEach(() => opened.splice(0).forEach((one) => one.close()));
  afterAll(() => stop?.());

  const sql = (text: string, ...values: unknown[]) => api.database.query(text, values);
  const insert = (table: string, values: Record<string, unknown>) => insertPlain(api.database.manager, table, values);

  async function newTenant(): Promise<string> {
    return String((await insert('tenants', { name: `tenant-${randomUUID()}` }))['tenant_id']);
  }

  async function newCaller(
    tenantId: string,
    roles: Role[],
    workspace?: [number, WorkspacePermission],
  ): Promise<Caller> {
    const username = `user-${randomUUID()}`;
    const userId = Number((await insert('users', { username, email: `${username}@example.org` }))['user_id']);
    for (const role of roles) {
      await insert('user_roles', { user_id: userId, role_id: ROLES.indexOf(role), tenant_id: tenantId });
    }
    if (workspace) {
      const [workspace_id, permission] = workspace;
      const held = { tenant_id: tenantId, workspace_id, permission_id: PERMISSIONS.indexOf(permission) };
      await insert('workspace_users', { ...held, user_id: userId });
    }
    const expires = new Date(Date.now() + 3_600_000);
    const session = { user_id: userId, tenant_id: tenantId, kind: 'login', expires_at: expires };
    const sessionId = String((await insert('sessions', session))['session_id']);
    const token = api.app.get(AccessTokens, { strict: false }).sign({ userId, sessionId }, expires);
    return { userId, sessionId, headers: { authorization: `Bearer ${token}` } };
  }

  async function newWorld(): Promise<World> {
    const tenantId = await newTenant();
    const workspaceName = `workspace-${randomUUID()}`;
    const workspace = await insert('workspaces', { tenant_id: tenantId, name: workspaceName });
    const workspaceId = Number(workspace['workspace_id']);
    const caller = await newCaller(tenantId, ['USER', 'CAN MANAGE CLUSTER'], [workspaceId, 'EDIT']);
    return { tenantId, workspaceId, workspaceName, caller };
  }

  const kinds: Record<string, (world: World) => Promise<Opened>> = {
    upgrade: ({ workspaceId, caller }) => openSocket(api.urlOf(`/workspace/${workspaceId}/echo/1`), caller.headers),
    download: ({ workspaceId, caller }) => openDownload(api.urlOf(`/workspace/${workspaceId}/endless`), caller.headers),
    upload: ({ workspaceId, caller }) =>
      openUpload(api.urlOf(`/workspace/files?workspace_id=${workspaceId}&path=${randomUUID()}`), caller.headers),
  };

  async function open(kind: string, world: World): Promise<Opened> {
    const one = await kinds[kind]?.(world);
    if (!one) throw new Error(`Nothing is opened by ${kind}`);
    opened.push(one);
    return one;
  }

  const losses: [string, (world: World) => Promise<unknown>, number][] = [
    ['a logout', ({ caller }) => api.call('POST', '/logout', { headers: caller.headers }), 401],
    // These changes send no notification: the regular check finds them.
    [
      'the end of the session',
      ({ caller }) => sql('UPDATE sessions SET revoked_at = now() WHERE session_id = $1', caller.sessionId),
      401,
    ],
    [
      'the expiry of the session',
      ({ caller }) => sql('UPDATE sessions SET expires_at = now() WHERE session_id = $1', caller.sessionId),
      401,
    ],
    [
      'a disabled account',
      ({ caller }) => sql('UPDATE users SET to_date = now() WHERE user_id = $1', caller.userId),
      401,
    ],
    [
      'the loss of every role',
      ({ caller }) => sql('UPDATE user_roles SET to_date = now() WHERE user_id = $1', caller.userId),
      403,
    ],
    [
      'the loss of the permission on the workspace',
      ({ caller }) => sql('UPDATE workspace_users SET to_date = now() WHERE user_id = $1', caller.userId),
      403,
    ],
    [
      'a lower permission on the workspace',
      ({ caller }) => sql('UPDATE workspace_users SET permission_id = 0 WHERE user_id = $1', caller.userId),
      403,
    ],
    [
      'a disabled workspace',
      ({ workspaceId }) => sql('UPDATE workspaces SET to_date = now() WHERE workspace_id = $1', workspaceId),
      403,
    ],
    [
      'a closed tenant',
      ({ tenantId }) => sql('UPDATE tenants SET to_date = now() WHERE tenant_id = $1', tenantId),
      401,
    ],
    [
      'another tenant in the session',
      async ({ caller }) => {
        const other = await newTenant();
        await insert('user_roles', { user_id: caller.userId, role_id: ROLES.indexOf('USER'), tenant_id: other });
        await sql('UPDATE sessions SET tenant_id = $2 WHERE session_id = $1', caller.sessionId, other);
      },
      403,
    ],
  ];

  it.each(losses)(
    'ends within a second of %s, while connections of other callers continue',
    async (_what, lose, status) => {
      const [world, other] = [await newWorld(), await newWorld()];
      const mine = await Promise.all(['upgrade', 'download', 'upload'].map((kind) => open(kind, world)));
      const theirs = await Promise.all(['upgrade', 'download', 'upload'].map((kind) => open(kind, other)));
      const looks = jest.spyOn(api.app.get(SessionsRepository, { strict: false }), 'findAll');
      await lose(world);
      looks.mockClear();
      await eventually(() => mine.every((one) => one.end() !== null), { what: 'the end of all' });
      expect(looks.mock.calls.length).toBeLessThanOrEqual(MAX_CHECKS);
      expect(mine.map((one) => one.end())).toEqual([1008, 'broken off', status]);
      expect(theirs.map((one) => one.end())).toEqual([null, null, null]);
    },
  );

  it('ends when the caller loses one of several required roles', async () => {
    const { caller } = await newWorld();
    const socket = await openSocket(api.urlOf('/managed'), caller.headers);
    opened.push(socket);
    const managers = ROLES.indexOf('CAN MANAGE CLUSTER');
    await sql('UPDATE user_roles SET to_date = now() WHERE user_id = $1 AND role_id = $2', caller.userId, managers);
    await eventually(() => socket.end() === 1008, { what: 'the end' });
  });

  it('is checked, with all others, by one statement each for sessions and workspaces', async () => {
    const world = await newWorld();
    for (let count = 0; count < 10; count += 1) await open('upgrade', world);
    const sessions = jest.spyOn(api.app.get(SessionsRepository, { strict: false }), 'findAll');
    const workspaces = jest.spyOn(api.app.get(WorkspacesRepository, { strict: false }), 'withPermissions');
    const started = performance.now();
    await eventually(() => workspaces.mock.calls.length >= 3, { what: 'three checks' });
    const seconds = (performance.now() - started) / 1000;
    expect(sessions.mock.calls.every(([ids]) => ids.length === 1)).toBe(true);
    expect(workspaces.mock.calls.every(([asked]) => asked.length === 1)).toBe(true);
    expect(sessions.mock.calls.length).toBeLessThanOrEqual(seconds * 2 + 2);
  });

  describe('an upgrade', () => {
    const address = ({ workspaceId }: World, number = 1) => api.urlOf(`/workspace/${workspaceId}/echo/${number}`);

    const statusOf = (url: string, headers: Record<string, string>) =>
      openSocket(url, headers).then(
        (socket) => {
          opened.push(socket);
          return 101;
        },
        (error: Error) => Number(error.message),
      );

    it('gets its caller, workspace and parameters, and is in the audit log', async () => {
      const world = await newWorld();
      const socket = await openSocket(address(world, 42), world.caller.headers);
      opened.push(socket);
      socket.socket.send('and back');
      await eventually(() => socket.said.length === 2);
      expect(socket.said[0]).toMatch(/^user-.* in workspace-.*: 42$/);
      expect(socket.said[1]).toBe('and back');
      const rows = await eventually(async () => {
        const found: unknown[] = await sql(
          'SELECT operation, outcome, status, subject FROM audit_events WHERE user_id = $1',
          world.caller.userId,
        );
        return found.length > 0 ? found : null;
      });
      const subject = expect.objectContaining({ workspace_id: world.workspaceId }) as object;
      expect(rows).toEqual([{ operation: 'echo', outcome: 'done', status: 101, subject }]);
    });

    it('admits callers as its declaration says', async () => {
      const world = await newWorld();
      const { tenantId, workspaceId } = world;
      const as = async (tenant: string, roles: Role[], permission?: WorkspacePermission) =>
        (await newCaller(tenant, roles, permission && [workspaceId, permission])).headers;
      const statuses = {
        nobody: await statusOf(address(world), {}),
        forged: await statusOf(address(world), { authorization: 'Bearer neither.a.token' }),
        RUN: await statusOf(address(world), await as(tenantId, ['USER'], 'RUN')),
        VIEW: await statusOf(address(world), await as(tenantId, ['USER'], 'VIEW')),
        'no permission': await statusOf(address(world), await as(tenantId, ['USER'])),
        ADMIN: await statusOf(address(world), await as(tenantId, ['ADMIN'])),
        'RUN without a role': await statusOf(address(world), await as(tenantId, [], 'RUN')),
        'another tenant': await statusOf(address(world), await as(await newTenant(), ['ADMIN'])),
        'another role': await statusOf(api.urlOf('/managed'), await as(tenantId, ['USER'])),
      };
      expect(statuses).toEqual({
        nobody: 401,
        forged: 401,
        RUN: 101,
        VIEW: 403,
        'no permission': 403,
        ADMIN: 101,
        'RUN without a role': 403,
        'another tenant': 404,
        'another role': 403,
      });
    });

    it('is refused by an error of its method, with the usual error body and a row in the audit log', async () => {
      const world = await newWorld();
      expect(await statusOf(address(world, 404), world.caller.headers)).toBe(404);
      const found = sql('SELECT outcome, error_code FROM audit_events WHERE user_id = $1', world.caller.userId);
      expect(await found).toEqual([{ outcome: 'refused', error_code: 'ECHO.NOT_FOUND' }]);
    });

    it('is closed when its handler fails', async () => {
      const world = await newWorld();
      await expect(openSocket(address(world, 500), world.caller.headers)).rejects.toThrow('1011');
    });

    it('refuses requests without an upgrade', async () => {
      const world = await newWorld();
      const answer = await fetch(address(world), { headers: world.caller.headers });
      expect([answer.status, answer.headers.get('upgrade')]).toEqual([426, 'websocket']);
      expect(await answer.json()).toMatchObject({ error_code: 'REQUEST.NO_UPGRADE' });
    });

    it('returns the ordinary response to requests, with their bodies, that offer another protocol', async () => {
      const { caller } = await newWorld();
      const headers = { ...caller.headers, connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c' };
      expect(await statusOf(api.urlOf('/user/info'), caller.headers)).toBe(200);
      const options = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' } };
      const asked = request(api.urlOf('/workspace'), options).end('{"name": "made-with-h2c-in-mind"}');
      const [answer] = (await once(asked, 'response')) as [IncomingMessage];
      expect([answer.statusCode, await text(answer)]).toEqual([200, expect.stringContaining('h2c-in-mind')]);
    });
  });

  it('is closed when the process stops', async () => {
    const own = await startWholeApi({}, [LiveOperations]);
    const before = api;
    api = own.api;
    try {
      const socket = await open('upgrade', await newWorld());
      await own.api.stop();
      await eventually(() => socket.end() === 1001, { what: 'the end' });
    } finally {
      api = before;
      await own.database.drop();
    }
  });
});
