import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { Request, Response } from 'express';
import { EnvReader } from '../../config/env-reader';
import { readHttpConfig } from '../../config/http.config';
import { ApiAdapter } from './api-adapter';
import { BodyCompressor, MIN_COMPRESSED_BYTES } from './compression';

const LARGE = { data: Array.from({ length: 100 }, (_, id) => ({ id, name: `cluster-${id}` })) };
const FROZEN = Object.freeze({ text: 'frozen '.repeat(500) });
/** JSON of as many bytes as the constant says. */
const ofBytes = (bytes: number) => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) });

describe('a JSON response', () => {
  const adapter = new ApiAdapter(readHttpConfig(new EnvReader({})));
  const bodies: Record<string, object> = {
    large: LARGE,
    frozen: FROZEN,
    small: ofBytes(MIN_COMPRESSED_BYTES - 1),
    least: ofBytes(MIN_COMPRESSED_BYTES),
    huge: ofBytes(300_000),
    secret: LARGE,
    node: LARGE,
  };
  let port: number;

  beforeAll(async () => {
    adapter.initHttpServer();
    for (const [name, body] of Object.entries(bodies)) {
      adapter.get(`/${name}`, (incoming: Request, response: Response) => {
        if (name === 'secret') response.setHeader('Cache-Control', 'no-store');
        if (name === 'node') Object.assign(incoming, { operation: { access: { kind: 'node' } } });
        return adapter.reply(response, body, 200);
      });
    }
    const server = adapter.getHttpServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
  });

  afterAll(() => adapter.close());

  async function get(name: string, headers: Record<string, string> = {}) {
    const sent = request({ host: '127.0.0.1', port, path: `/${name}`, headers, agent: false }).end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const body = await buffer(response);
    return { status: response.statusCode, headers: response.headers, body };
  }

  const unpacked = {
    gzip: (body: Buffer) => gunzipSync(body).toString(),
    br: (body: Buffer) => brotliDecompressSync(body).toString(),
  };

  it.each(['gzip', 'br'] as const)('is compressed for a client that accepts %s', async (encoding) => {
    for (const name of ['large', 'frozen', 'frozen', 'huge', 'least']) {
      const { status, headers, body } = await get(name, { 'accept-encoding': encoding });
      const json = JSON.stringify(bodies[name]);
      expect(headers).toMatchObject({
        'content-encoding': encoding,
        'content-length': String(body.length),
        'content-type': 'application/json; charset=utf-8',
        vary: 'Accept-Encoding',
      });
      expect(body.length).toBeLessThan(json.length / 3);
      expect([status, unpacked[encoding](body)]).toEqual([200, json]);
    }
  });

  it('is Brotli for a browser', async () => {
    expect((await get('large', { 'accept-encoding': 'gzip, deflate, br, zstd' })).headers).toMatchObject({
      'content-encoding': 'br',
    });
  });

  it.each([undefined, 'identity', 'gzip;q=0', 'deflate'])(
    'is not compressed for Accept-Encoding %s',
    async (accepted) => {
      const { headers, body } = await get('large', accepted === undefined ? {} : { 'accept-encoding': accepted });
      expect(headers['content-encoding']).toBeUndefined();
      expect(headers['vary']).toBe('Accept-Encoding');
      expect(body.toString()).toBe(JSON.stringify(LARGE));
    },
  );

  it.each(['small', 'secret', 'node'])('is not compressed if it is %s', async (name) => {
    const { headers, body } = await get(name, { 'accept-encoding': 'gzip, br' });
    expect(headers['content-encoding']).toBeUndefined();
    expect(body.toString()).toBe(JSON.stringify(bodies[name]));
  });

  it.each(['large', 'frozen'])('has one ETag in all encodings, for which it is sent once: %s', async (name) => {
    const plain = await get(name);
    const { etag = '' } = plain.headers;
    expect(etag).toMatch(/^W\/"/);
    for (const encoding of ['gzip', 'br']) {
      const encoded = await get(name, { 'accept-encoding': encoding });
      expect(encoded.headers.etag).toBe(etag);
      const again = await get(name, { 'accept-encoding': encoding, 'if-none-match': etag });
      expect(again).toMatchObject({ status: 304, body: Buffer.alloc(0), headers: { etag, vary: 'Accept-Encoding' } });
      expect(again.headers['content-encoding']).toBeUndefined();
    }
  });
});

describe('the compressor', () => {
  it('compresses two large bodies at once, and leaves others as they are', async () => {
    const compressor = new BodyCompressor();
    const large = Buffer.from(JSON.stringify(ofBytes(300_000)));
    const first = [compressor.compress(large, 'gzip'), compressor.compress(large, 'br')];
    expect(compressor.compress(large, 'gzip')).toBeNull();
    expect(compressor.compress(Buffer.alloc(MIN_COMPRESSED_BYTES, ' '), 'gzip')).toBeInstanceOf(Buffer);
    await Promise.all(first.map((one) => Promise.resolve(one)));
    await expect(compressor.compress(large, 'gzip')).resolves.toBeInstanceOf(Buffer);
  });
});
