import { createHash, type Hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { finished, Transform, type TransformCallback } from 'node:stream';
import type { Request, Response } from 'express';
import { currentContext } from '../context/request-context';
import { DomainError, invalid } from '../errors/domain-error';
import { freeTransferred } from '../files/transfer-memory';

/** How long a client that was refused may go on sending before its connection is closed. */
const LINGER_MS = 10_000;

/** With less, the connection would be stopped and started again for every chunk that arrives. */
const BUFFERED_BYTES = 2 ** 20;

/** The full length of an upload as the client announces it. */
export const FILE_SIZE_HEADER = 'x-file-size';

/** As operations with an upload declare it. */
export const UPLOAD_HEADERS = { [FILE_SIZE_HEADER]: 'Full length of the file in bytes; must match what arrives' };

/** Reads {@link FILE_SIZE_HEADER}; null without one. */
export function announcedSize(header: string | undefined): number | null {
  if (header === undefined) return null;
  if (!/^\d{1,15}$/.test(header)) throw invalid('REQUEST.INVALID', `${FILE_SIZE_HEADER} must be a number of bytes.`);
  return Number(header);
}

/**
 * The size that the client announces: in {@link FILE_SIZE_HEADER}, else by the length of the body. Null for a chunked body
 * without the header.
 */
export function expectedSize(request: IncomingMessage, header: string | undefined): number | null {
  const length = request.headers['content-length'];
  return announcedSize(header) ?? (length === undefined ? null : Number(length));
}

/**
 * The bytes of an upload, counted on their way. Fails with a 413 as soon as there are more than `maxBytes`, with what
 * `admit` throws, and when the client goes away. Unlike the request itself it can be destroyed without the connection, which has yet to carry the
 * answer.
 */
export class UploadBody extends Transform {
  receivedBytes = 0;
  private readonly hash: Hash | null;

  constructor(
    request: IncomingMessage,
    private readonly maxBytes: number,
    /** Is told of each chunk how many bytes have come with it. */
    private readonly admit: (receivedBytes: number) => void = () => undefined,
  ) {
    super({ highWaterMark: BUFFERED_BYTES });
    // Costs as much as the transfer itself, so only where a repeated request has to be known again.
    this.hash = currentContext()?.idempotency ? createHash('sha256') : null;
    finished(request, { writable: false }, (error) => {
      if (error) this.destroy(error);
    });
    request.pipe(this);
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.receivedBytes += chunk.length;
    try {
      assertUploadSize(this.receivedBytes, this.maxBytes);
      this.admit(this.receivedBytes);
    } catch (error) {
      done(error as Error);
      return;
    }
    this.hash?.update(chunk);
    freeTransferred(chunk.length);
    done(null, chunk);
  }

  /** Takes in all bytes of a request that has come before, only to know whether they are the same. */
  async compare(): Promise<void> {
    for await (const _chunk of this);
    this.addToIdempotency();
  }

  /** Makes the bytes a part of what the request's `Idempotency-Key` stands for; they have all arrived. */
  addToIdempotency(): void {
    const idempotency = currentContext()?.idempotency;
    if (idempotency && this.hash) idempotency.requestHash += `:${this.hash.digest('hex')}`;
  }
}

/** Throws a 413 for an upload that is announced as too large. */
export function assertUploadSize(sizeBytes: number | null, maxBytes: number): void {
  if (sizeBytes !== null && sizeBytes > maxBytes) throw tooLarge(maxBytes);
}

/**
 * Takes in what a refused client still sends, so that it comes to read the answer, but not for long: the connection of one
 * that does not stop is closed.
 */
export function discardRest(request: Request): void {
  if (request.complete || request.destroyed) return;
  const { socket, res: response } = request;
  const isLast = response?.shouldKeepAlive === false;
  // Closed together with the answer, the connection would be reset under the client's hands and the answer lost.
  if (response) response.shouldKeepAlive = true;
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  request.once('close', () => {
    clearTimeout(timer);
    if (isLast) onceFinished(response, () => socket.end());
  });
  request.on('error', () => {});
  request.unpipe();
  request.resume();
}

function onceFinished(response: Response, then: () => void): void {
  if (response.writableFinished) then();
  else response.once('finish', then);
}

/** Throws a 400 for a request whose operation takes no bytes, as it is, and yet has some. */
export async function assertNoBody(request: IncomingMessage): Promise<void> {
  const isChunked = request.headers['transfer-encoding'] !== undefined;
  const isEmpty = isChunked ? await endsEmpty(request) : Number(request.headers['content-length'] ?? 0) === 0;
  if (!isEmpty) throw invalid('REQUEST.INVALID', 'A directory has no content: send no body.');
}

function endsEmpty(request: IncomingMessage): Promise<boolean> {
  return new Promise((resolve) => {
    const decide = (isEmpty: boolean) => {
      clearTimeout(timer);
      request.pause().removeAllListeners('data');
      resolve(isEmpty);
    };
    const timer = setTimeout(() => decide(false), LINGER_MS).unref();
    request.once('close', () => decide(false));
    request.once('end', () => decide(true));
    request.once('data', () => decide(false));
  });
}

function tooLarge(maxBytes: number): DomainError {
  return new DomainError('too-large', 'FILE.TOO_LARGE', `A file has at most ${maxBytes} bytes.`);
}
