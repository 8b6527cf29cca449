import { LoginDelays } from '../../src/modules/foundation/iam/login/login-delays';
import { ADMIN_PASSWORD, startWholeApi, type TestApi } from '../medium/harness/test-api';

const HOME = '192.0.2.1';
const ELSEWHERE = '198.51.100.7';
const ATTEMPTS = 10;

// Real: the whole API, PostgreSQL and Redis. The addresses are as a proxy would forward them.
describe('a client that guesses the password of another user', () => {
  let api: TestApi;
  let stop: (() => Promise<void>) | undefined;
  let wait: jest.SpiedFunction<LoginDelays['wait']>;

  beforeEach(async () => {
    ({ api, stop } = await startWholeApi({ HTTP_TRUSTED_PROXIES: '1' }));
    wait = jest.spyOn(LoginDelays.prototype, 'wait');
  });

  afterEach(() => stop?.());

  const login = async (address: string, password = ADMIN_PASSWORD, username = 'admin') => {
    const headers = { 'x-forwarded-for': address };
    const { status, body } = await api.call('POST', '/login', { body: { username, password }, headers });
    return [status, body.error_code];
  };
  const RIGHT = [200, undefined];
  const WRONG = [401, 'AUTH.UNAUTHENTICATED'];
  const TOO_MANY = [429, 'AUTH.TOO_MANY_ATTEMPTS'];

  async function guess(times: number, addressOf: (index: number) => string, username = 'admin'): Promise<void> {
    for (let index = 0; index < times; index += 1) {
      expect(await login(addressOf(index), 'a guess', username)).toEqual(WRONG);
    }
  }

  it('locks out only its own address: the owner logs in at once from a known address, and soon from any other', async () => {
    expect(await login(HOME)).toEqual(RIGHT);
    await guess(ATTEMPTS, () => ELSEWHERE);
    expect(await login(ELSEWHERE)).toEqual(TOO_MANY);
    expect(await login(HOME)).toEqual(RIGHT);
    expect(wait).not.toHaveBeenCalled();
    expect(await login('203.0.113.9')).toEqual(RIGHT);
    expect(wait.mock.calls.map(([, network, ms]) => [network, ms])).toEqual([['203.0.113.9', 250]]);
    expect(await login('203.0.113.9')).toEqual(RIGHT);
    expect(wait).toHaveBeenCalledTimes(1);
  });

  it('prevents no user from changing their own password', async () => {
    const { body } = await api.call('POST', '/login', {
      body: { username: 'admin', password: ADMIN_PASSWORD },
      headers: { 'x-forwarded-for': HOME },
    });
    await guess(ATTEMPTS, () => ELSEWHERE);
    const change = await api.call('PUT', '/user/password', {
      token: body.token,
      body: { current_password: ADMIN_PASSWORD, new_password: 'another password of some length' },
      headers: { 'x-forwarded-for': HOME },
    });
    expect(change.status).toBe(201);
  });

  it('cannot learn whether the account exists', async () => {
    const [known, unknown] = await Promise.all(
      ['admin', 'nobody'].map(async (username, index) => {
        const [from, other] = [`198.51.100.${index}`, `203.0.113.${index}`];
        await guess(ATTEMPTS, () => from, username);
        return [await login(from, 'a guess', username), await login(other, 'a guess', username)];
      }),
    );
    expect(known).toEqual([TOO_MANY, WRONG]);
    expect(unknown).toEqual(known);
    expect(wait.mock.calls.map(([, , ms]) => ms)).toEqual([250, 250]);
  });

  it('gets no more guesses by sending many at once', async () => {
    const guesses = Array.from({ length: 60 }, (_, index) =>
      login(ELSEWHERE, index === 40 ? ADMIN_PASSWORD : `guess ${index}`),
    );
    const answers = await Promise.all(guesses);
    const learnt = answers.filter(([status]) => status === 401 || status === 200);
    expect(learnt.length).toBeLessThanOrEqual(ATTEMPTS + 1);
    for (const [status] of answers) expect([200, 401, 429, 503]).toContain(status);
    expect(await login(ELSEWHERE)).toEqual(TOO_MANY);
  });

  it('gets no more guesses by other user names, nor by other addresses of an IPv6 network', async () => {
    for (let index = 0; index < ATTEMPTS; index += 1) {
      expect(await login(`2001:db8:1:2::${index}`, 'a guess', `name-${index}`)).toEqual(WRONG);
    }
    expect(await login('2001:db8:1:2:ffff::1')).toEqual(TOO_MANY);
    expect(await login('2001:db8:1:3::1')).toEqual(RIGHT);
  });

  it('is slowed down more with each further address, and the owner no more than the attacker', async () => {
    await guess(2 * ATTEMPTS, (index) => `198.51.100.${index}`);
    expect(await login(HOME)).toEqual(RIGHT);
    const waited = wait.mock.calls.map(([, , ms]) => ms);
    expect(waited).toEqual([...Array.from({ length: ATTEMPTS }, () => 250), 500]);
  });
});
