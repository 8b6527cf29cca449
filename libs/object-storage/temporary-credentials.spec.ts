import type { IncomingMessage } from 'node:http';
import { BlobServiceClient, RestError, type ServiceGetUserDelegationKeyResponse } from '@azure/storage-blob';
import { type LoopbackServer, serveOnLoopback } from '../../test/fakes/http/loopback-server';
import { OutboundPolicy } from '../outbound-policy/outbound-policy';
import { AzureKeySpace, azureLocation, azureSasLocation } from './azure-key-space';
import { GcsKeySpace, gcsTokenLocation } from './gcs-key-space';
import { KeyedObjectStore } from './keyed-object-store';
import type { KeySpace } from './key-space';
import { S3KeySpace } from './s3-key-space';

const { agents } = new OutboundPolicy({ schemes: ['http'], allowedClasses: ['loopback'] });
const TIMEOUTS = { callMs: 20_000, idleMs: 20_000 };

const ADDRESS = { contentDisposition: 'attachment', contentType: 'application/octet-stream', validSeconds: 60 };

const DELEGATED = {
  ...{ signedObjectId: 'principal', signedTenantId: 'tenant', signedService: 'b', signedVersion: '2023-11-03' },
  ...{ signedStartsOn: new Date(), signedExpiresOn: new Date(), value: Buffer.from('key').toString('base64') },
} as ServiceGetUserDelegationKeyResponse;

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

  it('sign no address, which would contain them', async () => {
    const keys = { accessKeyId: 'id', secretAccessKey: 'secret', sessionToken: 'token' };
    const s3 = { bucket: 'lake', endpoint: server.url, region: 'us-east-1', ...keys };
    const google = { ...gcsTokenLocation({ bucket: 'lake', token: 'ya29.lent' }), endpoint: server.url };
    const azure = azureSasLocation({ accountName: 'account1', container: 'lake', sas: 'sig=a' });
    const spaces = [
      new S3KeySpace(s3, agents, TIMEOUTS.callMs),
      new GcsKeySpace(google, agents, TIMEOUTS.callMs),
      new AzureKeySpace({ ...azure, endpoint: server.url }, agents),
    ];
    for (const space of spaces) {
      const store = new KeyedObjectStore(space, TIMEOUTS);
      expect(await store.addressOf('a', ADDRESS)).toBeNull();
    }
  });
});

describe('a service principal of Azure', () => {
  const keys = {
    accountName: 'account1',
    container: 'lake',
    tenantId: 'tenant',
    clientId: 'id',
    clientSecret: 'secret',
  };
  const store = new KeyedObjectStore(new AzureKeySpace(azureLocation(keys), agents), TIMEOUTS);
  const address = () => store.addressOf('a b/c', ADDRESS);

  afterEach(() => jest.restoreAllMocks());

  it('signs an address with a key that it is lent, for reading this file only', async () => {
    const asked = jest.spyOn(BlobServiceClient.prototype, 'getUserDelegationKey').mockResolvedValue(DELEGATED);
    const { origin, pathname, searchParams } = new URL((await address()) ?? '');
    expect(`${origin}${pathname}`).toBe('https://account1.blob.core.windows.net/lake/a%20b/c');
    const values = Object.fromEntries(searchParams);
    expect(values).toMatchObject({ sp: 'r', sr: 'b', skoid: 'principal', rscd: 'attachment' });
    expect(values['rsct']).toBe('application/octet-stream');
    expect(Date.parse(values['se'] ?? '') - Date.now()).toBeLessThan(61_000);
    expect(asked).toHaveBeenCalledTimes(1);
  });

  it('signs none if it may not get such a key', async () => {
    const refusal = new RestError('no', { statusCode: 403, code: 'AuthorizationPermissionMismatch' });
    jest.spyOn(BlobServiceClient.prototype, 'getUserDelegationKey').mockRejectedValue(refusal);
    expect(await address()).toBeNull();
  });
});
