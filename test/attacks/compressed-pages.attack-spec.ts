import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { Controller, Module } from '@nestjs/common';
import { Operation, Responses } from '../../src/platform/http/operation';
import { wholeApi } from '../medium/harness/test-api';

const AT_ONCE = 6;
/** Random text, which takes the longest to compress: half a second at this size. */
const PAGE = { data: Array.from({ length: 1_000 }, () => randomBytes(8 * 1_024).toString('hex')) };

@Controller()
class LargePages {
  @Operation({
    method: 'GET',
    path: '/tests/large-page',
    id: 'getLargePage',
    summary: 'Get a large page',
    tag: 'Probes',
    access: { kind: 'signed-in' },
    response: Responses.anyJson,
  })
  get(): object {
    return PAGE;
  }
}

@Module({ controllers: [LargePages] })
class LargePagesModule {}

// Real: the whole API and PostgreSQL. Left out: the query behind a large page, so that only the response takes time.
describe('a client that has many large responses compressed', () => {
  const api = wholeApi({}, [LargePagesModule]);
  let token: string;

  beforeAll(async () => {
    token = await api.login();
  });

  /** Returns the encoding and the length of the response once all of it has arrived. It is not unpacked. */
  async function readPage(encoding: string): Promise<{ encoding: string | undefined; bytes: number }> {
    const headers = { authorization: `Bearer ${token}`, 'accept-encoding': encoding };
    const sent = request(api.urlOf('/tests/large-page'), { headers, agent: false }).end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    let bytes = 0;
    for await (const part of response) bytes += (part as Buffer).length;
    expect(response.statusCode).toBe(200);
    return { encoding: response.headers['content-encoding'], bytes };
  }

  it.each(['gzip', 'br'])('leaves turns to others, and nobody waits: %s', async (encoding) => {
    let isOver = false;
    const read = Promise.all(Array.from({ length: AT_ONCE }, () => readPage(encoding)));
    void read.finally(() => (isOver = true));
    let served = 0;
    for (; !isOver; served += 1) expect((await api.call('GET', '/version')).status).toBe(200);
    const pages = await read;
    const compressed = pages.filter((page) => page.encoding === encoding);
    expect(compressed.length).toBeGreaterThanOrEqual(2);
    expect(compressed.length).toBeLessThan(AT_ONCE);
    expect(served).toBeGreaterThan(20);
  });
});
