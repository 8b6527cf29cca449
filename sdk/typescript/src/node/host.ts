import { randomUUID } from 'node:crypto';
import { createWriteStream, openAsBlob } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream as NodeStream } from 'node:stream/web';
import { ConfigurationError } from '../errors.ts';
import type { Host } from '../host.ts';

/** Files and sockets of Node. A Node without sockets needs a class of them, such as that of the package ws. */
export function nodeHost(Socket: typeof WebSocket | undefined = globalThis.WebSocket): Host {
  return {
    async open(path) {
      const found = await stat(path).catch(() => undefined);
      if (!found?.isFile()) {
        throw new ConfigurationError(`There is no file ${path}. Name a local file; it is uploaded.`);
      }
      return { name: basename(path), content: await openAsBlob(path) };
    },
    async save(path, content) {
      // The name cannot be guessed, so no link or file of another user is in its place, and two downloads never share a file.
      const draft = `${path}.${randomUUID()}.part`;
      try {
        await pipeline(Readable.fromWeb(content as NodeStream), createWriteStream(draft, { flags: 'wx' }));
        await rename(draft, path);
      } finally {
        await rm(draft, { force: true });
      }
    },
    openSocket(url) {
      if (Socket) return new Socket(url);
      throw new ConfigurationError(
        'Notebooks need WebSockets, which this Node does not have. Use Node 22, or new Client({ webSocket: … }) with those of ws.',
      );
    },
  };
}
