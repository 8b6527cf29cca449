import { type Caller, People } from './harness/people';
import { wholeApi } from './harness/test-api';

/** The maximum number of ids in a filter. */
const MOST = 1000;

// Real: the whole API, its server and PostgreSQL.
describe('a long query', () => {
  const api = wholeApi();
  const people = new People(api);
  let caller: Caller;

  beforeAll(async () => {
    caller = await people.admin(await people.tenant());
  });

  const largest = (count: number) => Array.from({ length: count }, (_, index) => Number.MAX_SAFE_INTEGER - index);
  const repeated = (ids: number[]) => ids.map((id) => `modified_by_ids=${id}`).join('&');
  const separated = (ids: number[]) => `modified_by_ids=${ids.join('%2C')}`;
  const clusters = (query: string) => caller.call('GET', `/clusters?${query}`);

  it.each([
    ['repeated', repeated],
    ['separated', separated],
  ])('may filter by the maximum number of ids, %s', async (_how, write) => {
    const { status, body } = await clusters(`${write(largest(MOST))}&limit=7`);
    expect([status, body.data, body.result_set?.limit]).toEqual([200, [], 7]);
  });

  it.each([
    ['repeated', repeated],
    ['separated', separated],
  ])('is refused, and not truncated, with one more id, %s', async (_how, write) => {
    const { status, body } = await clusters(write(largest(MOST + 1)));
    expect([status, body.error_code]).toEqual([400, 'REQUEST.INVALID']);
    expect(body.error_message).toContain('modified_by_ids must contain no more than 1000 elements');
  });

  it('is read completely', async () => {
    const { status, body } = await clusters(`${repeated(largest(MOST))}&surprise=1`);
    expect(status).toBe(400);
    expect(body.error_message).toContain('surprise is not a known field');
  });
});
