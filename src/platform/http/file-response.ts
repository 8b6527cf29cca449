import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Response } from 'express';
import type { FileContent, LogSlice } from '../kernel/files/content';
import { contentDisposition, DOWNLOAD_TYPE } from '../kernel/files/content-disposition';
import { firstByte } from '../kernel/files/first-byte';
import { freeTransferred } from '../kernel/files/transfer-memory';
import { type ZipEntry, zipStream } from '../kernel/files/zip-stream';

/** Response header with the log offset at which the next request continues. */
const LOG_OFFSET_HEADER = 'x-log-offset';

/** Sends content that a service opened. Errors are those of {@link sendFile}, converted by the service. */
export async function sendContent(response: Response, content: FileContent): Promise<void> {
  try {
    if (content.kind === 'file') await sendFile(response, content.stream, content);
    else if (content.kind === 'address') redirect(response, content.address);
    else await sendZip(response, `${content.name}.zip`, content.entries);
  } catch (error) {
    throw content.asError(error);
  }
}

/** Sends the client to an address that only it may know. */
function redirect(response: Response, address: string): void {
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('Location', address);
  response.status(307).end();
}

/** Sends a part of a log as text. It has a Content-Disposition, because clients would take it for an error without one. */
export async function sendLog(response: Response, slice: LogSlice): Promise<void> {
  const { name, stream, range, sizeBytes, nextOffset } = slice;
  response.once('close', () => stream.destroy());
  try {
    if (sizeBytes !== null) await firstByte(stream);
    setFileHeaders(response, name, 'text/plain; charset=utf-8');
    response.setHeader(LOG_OFFSET_HEADER, String(nextOffset));
    response.setHeader('Accept-Ranges', 'bytes');
    if (range) {
      response.status(206);
      response.setHeader('Content-Range', `bytes ${range.start}-${range.end - 1}/${range.size}`);
    }
    if (sizeBytes !== null) response.setHeader('Content-Length', String(sizeBytes));
    // The headers are sent at once, so that the client sees the response before the job logs anything.
    else response.flushHeaders();
    await transfer(stream, response);
  } catch (error) {
    throw slice.asError(error);
  }
}

/** Sends a file to be saved. Throws an error that occurs before the first byte; a later one breaks off the connection. */
export async function sendFile(
  response: Response,
  source: Readable,
  { name, sizeBytes }: { name: string; sizeBytes: number | null },
): Promise<void> {
  response.once('close', () => source.destroy());
  await firstByte(source);
  setFileHeaders(response, name, DOWNLOAD_TYPE);
  if (sizeBytes !== null) response.setHeader('Content-Length', String(sizeBytes));
  await transfer(source, response);
}

/** Streams a large JSON response. Errors are those of {@link sendFile}. */
export async function sendJson(response: Response, text: AsyncIterable<string>): Promise<void> {
  await sendText(response, text, () => response.setHeader('Content-Type', 'application/json; charset=utf-8'));
}

/** Streams CSV, to be saved under the name. Errors are those of {@link sendFile}. */
export async function sendCsv(response: Response, name: string, text: AsyncIterable<string>): Promise<void> {
  await sendText(response, text, () => setFileHeaders(response, name, 'text/csv; charset=utf-8; header=present'));
}

async function sendText(response: Response, text: AsyncIterable<string>, setHeaders: () => void): Promise<void> {
  const source = Readable.from(text, { objectMode: false });
  response.once('close', () => source.destroy());
  await firstByte(source);
  setHeaders();
  await transfer(source, response);
}

/** Sends the entries as a zip file. Errors are those of {@link sendFile}; clients recognize a truncated zip file. */
export async function sendZip(response: Response, name: string, entries: AsyncIterable<ZipEntry>): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const zip = zipStream(entries, gone.signal);
  await firstByte(zip);
  setFileHeaders(response, name, 'application/zip');
  await transfer(zip, response);
}

function setFileHeaders(response: Response, name: string, contentType: string): void {
  response.setHeader('Content-Type', contentType);
  response.setHeader('Content-Disposition', contentDisposition(name));
  response.setHeader('X-Content-Type-Options', 'nosniff');
}

/** Sends the bytes. A client that disconnects ends the transfer without an error. */
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
