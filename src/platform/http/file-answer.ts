import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ZipArchive } from 'archiver';
import type { Response } from 'express';
import { freeTransferred } from './transfer-memory';

/** A file or directory on its way into a zip file. */
export interface ZipEntry {
  /** Path in the zip file. */
  name: string;
  lastModified?: Date | null;
  /** Opens the content when its turn has come; null for a directory. */
  open: (() => Promise<Readable>) | null;
}

/** Answers a file to be saved. An error before its first byte is thrown; after that it breaks the connection off. */
export async function sendFile(
  response: Response,
  source: Readable,
  { name, sizeBytes }: { name: string; sizeBytes: number },
): Promise<void> {
  await firstByte(source);
  setFileHeaders(response, name, 'application/octet-stream');
  response.setHeader('Content-Length', String(sizeBytes));
  await transfer(source, response);
}

/**
 * Answers entries as a zip file, one after the other, so that however many there are no more than one is open. Errors as
 * with {@link sendFile}: a zip file that ends early can be told from a whole one.
 */
export async function sendZip(response: Response, name: string, entries: AsyncIterable<ZipEntry>): Promise<void> {
  const opened = openedInTurn(entries);
  let next = await opened.next();
  const zip = new ZipArchive({ zlib: { level: 1 } });
  setFileHeaders(response, name, 'application/zip');
  const sent = transfer(zip, response);
  try {
    for (; !next.done && !response.destroyed; next = await opened.next()) {
      const { entry, source } = next.value;
      await Promise.race([appended(zip, entry, source), sent]);
    }
    if (next.done) await Promise.race([zip.finalize(), sent]);
    await sent;
  } catch (error) {
    response.destroy();
    await sent.catch(() => {});
    throw error;
  } finally {
    await opened.return(undefined);
    zip.destroy();
  }
}

/** Quoted file name; characters that a header cannot carry go in the extended form. */
export function contentDisposition(name: string): string {
  const plain = name.replaceAll(/[^\x20-\x7e]|["\\]/g, '_');
  const extended = plain === name ? '' : `; filename*=UTF-8''${percentEncoded(name)}`;
  return `attachment; filename="${plain}"${extended}`;
}

/** Of RFC 8187: what encodeURIComponent leaves beyond its letters is encoded, too. */
function percentEncoded(name: string): string {
  return encodeURIComponent(Buffer.from(name).toString()).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function setFileHeaders(response: Response, name: string, contentType: string): void {
  response.setHeader('Content-Type', contentType);
  response.setHeader('Content-Disposition', contentDisposition(name));
  response.setHeader('X-Content-Type-Options', 'nosniff');
}

/** A client that goes away ends the reading and is nobody's failure. */
async function transfer(source: Readable, response: Response): Promise<void> {
  source.on('data', (chunk: Buffer) => freeTransferred(chunk.length));
  try {
    await pipeline(source, response);
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}

const GONE = ['ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_DESTROYED', 'ERR_STREAM_UNABLE_TO_PIPE', 'ECONNRESET', 'EPIPE'];

function isGone(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && GONE.includes(String(error.code));
}

/** Waits until the source has something to give, or has ended; throws what it fails with. */
function firstByte(source: Readable): Promise<void> {
  return new Promise((resolve, reject) => {
    if (source.errored) reject(source.errored);
    if (source.readableLength > 0 || source.destroyed) resolve();
    source.once('error', reject);
    source.once('close', resolve);
    source.once('readable', resolve);
  });
}

async function* openedInTurn(
  entries: AsyncIterable<ZipEntry>,
): AsyncGenerator<{ entry: ZipEntry; source: Readable | null }, void, undefined> {
  for await (const entry of entries) {
    const source = (await entry.open?.()) ?? null;
    try {
      if (source) await firstByte(source);
      yield { entry, source };
    } finally {
      source?.destroy();
    }
  }
}

function appended(zip: ZipArchive, entry: ZipEntry, source: Readable | null): Promise<void> {
  return new Promise((resolve, reject) => {
    zip.once('entry', () => resolve());
    source?.once('error', reject);
    const data = { name: source ? entry.name : `${entry.name}/`, date: entry.lastModified ?? undefined };
    zip.append(source ?? '', data);
  });
}
