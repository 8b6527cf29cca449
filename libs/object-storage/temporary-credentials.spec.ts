import type { IncomingMessage } from 'node:http';
import { type LoopbackServer, serveOnLoopback } from '../../test/fakes/http/loopback-server';
import { OutboundPolicy } from '../outbound-policy/outbound-policy';
import { AzureKeySpace, azureSasLocation } from './azure-key-space';
import { GcsKeySpace, gcsTokenLocation } from './gcs-key-space';
import { KeyedObjectStore } from './keyed-object-store';
import type { KeySpace } from './key-space';

const { agents } = new OutboundPolicy({ schemes: ['http'], allowedClasses: ['loopback'] });
const TIMEOUTS = { callMs: 20_000, idleMs: 20_000 };

describe('temporary credentials', () => {
  let server: LoopbackServer;
  const requests: IncomingMessage[] = [];

  beforeAll(async () => {
    server = await serveOnLoopback((request, response) => {
      requests.push(request);
      response.writeHead(200, { 'content-type': 'text/plain', 'content-length': 2, etag: '"1"' }).end('{}');
    });
  });

  afterAll(() => server.stop());

  const read = async (space: KeySpace) => {
    requests.length = 0;
    const { stream } = await new KeyedObjectStore(space, TIMEOUTS).read('t/_delta_log/1.json');
    const chunks = await (stream as AsyncIterable<Buffer> & { toArray(): Promise<Buffer[]> }).toArray();
    expect(Buffer.concat(chunks).toString()).toBe('{}');
    expect(requests).toHaveLength(1);
    return { url: requests[0]?.url ?? '', authorization: requests[0]?.headers.authorization };
  };

  it('for Google are sent as the token, and no other is fetched', async () => {
    const location = { ...gcsTokenLocation({ bucket: 'lake', token: 'ya29.lent' }), endpoint: server.url };
    expect(await read(new GcsKeySpace(location, agents, TIMEOUTS.callMs))).toEqual({
      url: '/storage/v1/b/lake/o/t%2F_delta_log%2F1.json?alt=media',
      authorization: 'Bearer ya29.lent',
    });
  });

  it('for Azure are sent as the query of the URL', async () => {
    const sas = 'sv=2023-11-03&sr=d&sig=a%2Fb%3D';
    const location = { ...azureSasLocation({ accountName: 'account1', container: 'lake', sas }), endpoint: server.url };
    expect(await read(new AzureKeySpace(location, agents))).toEqual({
      url: `/lake/t/_delta_log/1.json?${sas}`,
      authorization: undefined,
    });
  });
});
