import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import type { Response } from 'express';
import type { ZipEntry } from '../kernel/files/zip-stream';
import { contentDisposition } from '../kernel/files/content-disposition';
import { sendFile, sendZip } from './file-response';

describe('contentDisposition', () => {
  it.each([
    ['a.txt', 'attachment; filename="a.txt"'],
    ['a b.txt', 'attachment; filename="a b.txt"'],
    ['a"b\\.txt', `attachment; filename="a_b_.txt"; filename*=UTF-8''a%22b%5C.txt`],
    ["é('*).txt", `attachment; filename="_('*).txt"; filename*=UTF-8''%C3%A9%28%27%2A%29.txt`],
    ['a\r\nSet-Cookie: b', `attachment; filename="a__Set-Cookie: b"; filename*=UTF-8''a%0D%0ASet-Cookie%3A%20b`],
  ])('for %j is %s', (name, expected) => {
    expect(contentDisposition(name)).toBe(expected);
  });
});

describe('a response with a file', () => {
  const servers: Server[] = [];

  afterEach(() => {
    for (const server of servers.splice(0)) server.close().closeAllConnections();
  });

  /** Returns the response that a client gets. An error before the first byte becomes a text. */
  const answer = async (send: (response: Response) => Promise<void>, signal?: AbortSignal) => {
    const server = createServer((_request, response) => {
      send(response as Response).catch((error: Error) => {
        if (response.headersSent) response.destroy();
        else response.writeHead(500).end(error.message);
      });
    });
    servers.push(server.listen(0, '127.0.0.1'));
    await once(server, 'listening');
    return fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, { signal });
  };

  const failing = (after: string[]) =>
    Readable.from(
      (async function* () {
        for (const part of after) yield Buffer.from(part);
        await Promise.resolve();
        throw new Error('the store failed');
      })(),
    );

  it('has name and length, even for an empty file', async () => {
    for (const content of ['content', '']) {
      const source = Readable.from(content === '' ? [] : [Buffer.from(content)]);
      const response = await answer((to) => sendFile(to, source, { name: 'a.txt', sizeBytes: content.length }));
      expect(response.headers.get('content-disposition')).toBe('attachment; filename="a.txt"');
      expect(response.headers.get('content-length')).toBe(String(content.length));
      expect(await response.text()).toBe(content);
    }
  });

  it('is an error if the source fails before its first byte', async () => {
    const response = await answer((to) => sendFile(to, failing([]), { name: 'a', sizeBytes: 9 }));
    expect([response.status, await response.text()]).toEqual([500, 'the store failed']);
    expect(response.headers.get('content-disposition')).toBeNull();
    const zip = await answer((to) => sendZip(to, 'a.zip', entries([entry('a', () => failing([]))])));
    expect([zip.status, await zip.text()]).toEqual([500, 'the store failed']);
  });

  it('breaks off if the source fails later', async () => {
    const response = await answer((to) => sendFile(to, failing(['some']), { name: 'a', sizeBytes: 9 }));
    await expect(response.text()).rejects.toThrow();
    const later: ZipEntry[] = [
      entry('a', () => Readable.from([Buffer.from('whole')])),
      entry('b', () => failing(['some'])),
    ];
    const zip = await answer((to) => sendZip(to, 'a.zip', entries(later)));
    await expect(zip.text()).rejects.toThrow();
  });

  describe.each(['a file', 'a directory'])('closes what it reads %s from when the client goes away', (what) => {
    const send = (to: Response, source: Readable) =>
      what === 'a file'
        ? sendFile(to, source, { name: 'a', sizeBytes: 2 ** 30 })
        : sendZip(to, 'a.zip', entries([entry('a', () => source)]));

    // The sources deliver no more bytes, so only the connection shows that the client has gone.
    it('during the response', async () => {
      const source = new Readable({ read: () => {} });
      source.push(randomBytes(2 ** 17));
      const closed = closeOf(source);
      const reader = (await answer((to) => send(to, source))).body!.getReader();
      await reader.read();
      await reader.cancel();
      await closed;
    });

    it('before it', async () => {
      const source = new Readable({ read: () => {} });
      const closed = closeOf(source);
      const client = new AbortController();
      const pending = answer((to) => {
        setImmediate(() => client.abort());
        return send(to, source);
      }, client.signal);
      await expect(pending).rejects.toThrow('aborted');
      await closed;
    });
  });

  /** Resolves when the source is closed, even after an error: a client that goes away may cause one. */
  function closeOf(source: Readable): Promise<unknown> {
    return new Promise((resolve) => source.once('close', resolve));
  }

  function entry(name: string, open: () => Readable): ZipEntry {
    return { name, open: async () => ({ stream: open(), sizeBytes: 0 }) };
  }

  async function* entries(list: ZipEntry[]): AsyncGenerator<ZipEntry> {
    await Promise.resolve();
    yield* list;
  }
});
