import { wholeApi, type TestAnswer } from '../medium/harness/test-api';

const LOGINS = 400;
/** Limits of waiting logins while two passwords are checked: in total, and per address. */
const [WAITING, WAITING_OF_ONE] = [64, 32];
/** The longest wait of a login. On a busy machine some are refused only after it. */
const MAX_WAIT_MS = 5_000;

interface Login {
  answer: TestAnswer;
  ms: number;
}

// Real: the whole API, PostgreSQL and Redis. The addresses are as a proxy would forward them.
describe('a flood of logins', () => {
  const api = wholeApi({ HTTP_TRUSTED_PROXIES: '1', LOGIN_ATTEMPTS: '1000' });
  let token: string;
  let file: string;

  beforeAll(async () => {
    token = await api.login();
    const body = { name: 'workspace' };
    const { workspace_id: id } = (await api.call('POST', '/workspace', { token, body })).body;
    file = api.urlOf(`/workspace/file/download?workspace_id=${id}&file_path=hello.txt`);
    const upload = await fetch(api.urlOf(`/workspace/files?workspace_id=${id}&path=hello.txt`), {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/octet-stream' },
      body: 'hello',
    });
    expect(upload.status).toBe(200);
  });

  async function guess(address: string, username: string): Promise<Login> {
    const begun = performance.now();
    const answer = await api.call('POST', '/login', {
      body: { username, password: 'a guess' },
      headers: { 'x-forwarded-for': address },
    });
    return { answer, ms: performance.now() - begun };
  }

  /** Starts a flood; `answered` returns the number of responses so far. */
  function flood(addressOf: (index: number) => string): { answered(): number; logins: Promise<Login[]> } {
    let answered = 0;
    const all = Array.from({ length: LOGINS }, (_, index) =>
      guess(addressOf(index), `nobody-${index}`).finally(() => (answered += 1)),
    );
    return { answered: () => answered, logins: Promise.all(all) };
  }

  const withStatus = (logins: Login[], wanted: number) => logins.filter(({ answer }) => answer.status === wanted);
  /** True if the password was checked, or the login stayed in the queue until its timeout. */
  const hasWaited = ({ answer, ms }: Login) => answer.status === 401 || (answer.status === 503 && ms >= MAX_WAIT_MS);

  it('from many addresses delays no download, and every login gets a response', async () => {
    const { answered, logins } = flood((index) => `192.0.${index % 250}.${Math.floor(index / 250)}`);
    while (answered() === 0) await new Promise(setImmediate);
    let downloads = 0;
    while (answered() < LOGINS) {
      const response = await fetch(file, { headers: { authorization: `Bearer ${token}` } });
      expect([response.status, await response.text()]).toEqual([200, 'hello']);
      downloads += 1;
    }
    expect(downloads).toBeGreaterThan(5);
    const looked = withStatus(await logins, 401);
    const refused = withStatus(await logins, 503);
    expect(looked.length + refused.length).toBe(LOGINS);
    expect((await logins).filter(hasWaited).length).toBeGreaterThanOrEqual(WAITING);
    expect(refused.length).toBeGreaterThan(0);
    for (const { body, headers } of refused.map(({ answer }) => answer)) {
      expect(body.error_code).toBe('AUTH.BUSY');
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    }
    const sql = `SELECT count(*) AS rows FROM audit_events WHERE operation = 'login' AND status = 503`;
    expect(await api.database.query(sql)).toEqual([{ rows: 0 }]);
  });

  it('from one address leaves the queue to other addresses', async () => {
    const { logins } = flood(() => '192.0.2.1');
    const others = await Promise.all(
      Array.from({ length: 20 }, (_, index) => guess(`198.51.100.${index}`, `colleague-${index}`)),
    );
    expect(others.filter((login) => !hasWaited(login))).toEqual([]);
    expect(withStatus(await logins, 503).length).toBeGreaterThan(0);
    expect((await logins).filter(hasWaited).length).toBeGreaterThanOrEqual(WAITING_OF_ONE);
  });
});
