import { randomBytes } from 'node:crypto';
import { IamApiModule } from '../../src/modules/foundation/iam/iam.api.module';
import { IamModule } from '../../src/modules/foundation/iam/iam.module';
import { PASSWORD, People } from './harness/people';
import { configure, createTestDatabase, prepare, soon, TestApi, type TestDatabase } from './harness/test-api';

const NEW_PASSWORD = 'another password of some length';

// Real: PostgreSQL, Redis, guards, pipes and filters. Two APIs stand for two pods.
describe("the user's own password", () => {
  let database: TestDatabase;
  let api: TestApi;
  let otherPod: TestApi;
  let people: People;
  let tenantId: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    await prepare(configure(database.url, { LOGIN_ATTEMPTS: '1000' }));
    api = await TestApi.start([IamModule, IamApiModule]);
    otherPod = await TestApi.start([IamModule, IamApiModule]);
    people = new People(api);
    tenantId = await people.tenant('home');
  });

  afterAll(async () => {
    await api?.stop();
    await otherPod?.stop();
    await database?.drop();
  });

  const statusOf = async (pod: TestApi, token: string) => (await pod.call('GET', '/user/info', { token })).status;
  const change = (token: string, current: unknown, next: unknown, pod = api) =>
    pod.call('PUT', '/user/password', { token, body: { current_password: current, new_password: next } });
  const loginStatus = async (username: string, password: string) =>
    (await api.call('POST', '/login', { body: { username, password } })).status;

  it('changes, and ends every other session and token of the user on every pod', async () => {
    const userId = await people.withPassword('ada', [['USER', tenantId]]);
    await people.withPassword('bystander', [['USER', tenantId]]);
    const here = await api.login('ada', PASSWORD);
    const elsewhere = await api.login('ada', PASSWORD);
    const bystander = await api.login('bystander', PASSWORD);
    const { token } = (await api.call('POST', '/user/token', { token: here })).body;
    for (const known of [here, elsewhere, token]) {
      for (const pod of [api, otherPod]) expect(await statusOf(pod, known)).toBe(200);
    }
    const wakeUps = otherPod.notifications('session');
    const answer = await change(here, PASSWORD, NEW_PASSWORD);
    expect([answer.status, answer.body]).toEqual([201, { message: expect.any(String) }]);
    for (const ended of [elsewhere, token]) {
      expect(await statusOf(api, ended)).toBe(401);
      await soon(async () => expect(await statusOf(otherPod, ended)).toBe(401), 1000);
    }
    // Cached sessions expire within a second anyway; the notification makes it immediate.
    await soon(async () => expect(wakeUps).toContain(`user:${userId}`));
    for (const pod of [api, otherPod]) {
      expect(await statusOf(pod, here)).toBe(200);
      expect(await statusOf(pod, bystander)).toBe(200);
    }
    expect(await loginStatus('ada', PASSWORD)).toBe(401);
    expect(await loginStatus('ada', NEW_PASSWORD)).toBe(200);
  });

  it.each([
    ['is wrong', ['wrong', NEW_PASSWORD], 403, 'PASSWORD.WRONG'],
    ['is missing', [undefined, NEW_PASSWORD], 400, 'REQUEST.INVALID'],
    ['is the new one', [PASSWORD, PASSWORD], 400, 'PASSWORD.UNCHANGED'],
    ['comes with one of 11 characters', [PASSWORD, 'x'.repeat(11)], 400, 'REQUEST.INVALID'],
    ['comes with one of 257 characters', [PASSWORD, 'x'.repeat(257)], 400, 'REQUEST.INVALID'],
  ])('stays when the current one %s', async (what, [current, next], status, code) => {
    const username = what.replaceAll(' ', '_');
    await people.withPassword(username, [['USER', tenantId]]);
    const token = await api.login(username, PASSWORD);
    const other = await api.login(username, PASSWORD);
    const answer = await change(token, current, next);
    expect([answer.status, answer.body.error_code]).toEqual([status, code]);
    expect(await statusOf(api, other)).toBe(200);
    expect(await loginStatus(username, PASSWORD)).toBe(200);
  });

  it.each([12, 256])('may have %i characters', async (length) => {
    const username = `length-${length}`;
    await people.withPassword(username, [['USER', tenantId]]);
    const next = 'x'.repeat(length);
    expect((await change(await api.login(username, PASSWORD), PASSWORD, next)).status).toBe(201);
    expect(await loginStatus(username, next)).toBe(200);
  });

  it('cannot be changed here for an account of another directory', async () => {
    const userId = await people.withPassword('external', [['USER', tenantId]]);
    const token = await api.login('external', PASSWORD);
    await api.database.query(`UPDATE users SET directory = 'ldap' WHERE user_id = $1`, [userId]);
    const answer = await change(token, PASSWORD, NEW_PASSWORD);
    expect([answer.status, answer.body.error_code]).toEqual([409, 'DIRECTORY.EXTERNAL']);
  });

  it('changes once when two requests change it at the same time', async () => {
    await people.withPassword('twice', [['USER', tenantId]]);
    const token = await api.login('twice', PASSWORD);
    const next = [NEW_PASSWORD, `${NEW_PASSWORD} still`];
    const answers = await Promise.all([api, otherPod].map((pod, index) => change(token, PASSWORD, next[index], pod)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(1);
    // The later request reads the new password, or finds it when it writes.
    expect([403, 409]).toContain(statuses.find((status) => status !== 201));
    expect(await loginStatus('twice', next[statuses.indexOf(201)] ?? '')).toBe(200);
  });

  it('cannot be guessed with a stolen session', async () => {
    configure(database.url, { LOGIN_ATTEMPTS: '3', REDIS_PREFIX: `limit-${randomBytes(4).toString('hex')}` });
    const pods = [await TestApi.start([IamModule, IamApiModule]), await TestApi.start([IamModule, IamApiModule])];
    try {
      await people.withPassword('victim', [['USER', tenantId]]);
      const token = await api.login('victim', PASSWORD);
      for (const pod of [0, 1, 0]) expect((await change(token, 'wrong', NEW_PASSWORD, pods[pod])).status).toBe(403);
      const refused = await change(token, PASSWORD, NEW_PASSWORD, pods[1]);
      expect([refused.status, refused.body.error_code]).toEqual([429, 'AUTH.TOO_MANY_ATTEMPTS']);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(await loginStatus('victim', PASSWORD)).toBe(200);
    } finally {
      await Promise.all(pods.map((pod) => pod.stop()));
    }
  });
});
