import { createHash, type Hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { finished, Transform, type TransformCallback } from 'node:stream';
import { currentContext } from '../kernel/context/request-context';
import { DomainError, invalid } from '../kernel/errors/domain-error';
import { freeTransferred } from '../kernel/files/transfer-memory';
import { addRequestListener } from './connections/request-caller';

/** Timeout of the check whether a body without an announced length is empty. */
const FIRST_BYTE_TIMEOUT_MS = 10_000;

/** A smaller buffer would pause and resume the connection for every chunk. */
const BUFFER_BYTES = 2 ** 20;

export interface UploadLimits {
  maxBytes: number;
  /** Longest pause between two chunks, milliseconds. */
  stallMs: number;
  /** Called after each chunk with the number of bytes that have arrived; throws to refuse the upload. */
  admit?: (receivedBytes: number) => void;
}

/** Header in which the client announces the length of an upload. */
export const FILE_SIZE_HEADER = 'x-file-size';

/** Headers that operations with an upload declare. */
export const UPLOAD_HEADERS = { [FILE_SIZE_HEADER]: 'Full length of the file in bytes; must match what arrives' };

/** An upload that a controller passes to a service. None of its bytes have been read yet. */
export class Upload {
  /** @param sizeHeader value of {@link FILE_SIZE_HEADER} */
  constructor(
    private readonly request: IncomingMessage,
    private readonly sizeHeader: string | undefined,
  ) {}

  /** The size in {@link FILE_SIZE_HEADER}, bytes; null without this header. Throws a 400 if it is not a number. */
  get announcedBytes(): number | null {
    return announcedSize(this.sizeHeader);
  }

  /** The length of the request's body, bytes; null if it is chunked. */
  get bodyBytes(): number | null {
    const length = this.request.headers['content-length'];
    return length === undefined ? null : Number(length);
  }

  /** Begins to read the bytes. */
  body(limits: UploadLimits): UploadBody {
    return new UploadBody(this.request, limits);
  }

  /** Throws a 400 if the request has a body. */
  assertEmpty(): Promise<void> {
    return assertNoBody(this.request);
  }
}

function announcedSize(header: string | undefined): number | null {
  if (header === undefined) return null;
  if (!/^\d{1,15}$/.test(header)) throw invalid('REQUEST.INVALID', `${FILE_SIZE_HEADER} must be a number of bytes.`);
  return Number(header);
}

/**
 * Streams and counts the bytes of an upload. It fails with a 413 as soon as there are more than `maxBytes`, with the error of
 * `admit`, when the caller loses access, with a 408 if none arrive for `stallMs` while a reader waits, and when the client
 * disconnects. Otherwise it may take any time. Unlike the request, it can be destroyed without the connection, which must
 * still carry the response.
 */
export class UploadBody extends Transform {
  receivedBytes = 0;
  private readonly hash: Hash | null;

  private readonly maxBytes: number;
  private readonly admit: (receivedBytes: number) => void;
  private readonly stall: NodeJS.Timeout;

  constructor(request: IncomingMessage, { maxBytes, stallMs, admit }: UploadLimits) {
    super({ highWaterMark: BUFFER_BYTES });
    this.maxBytes = maxBytes;
    this.admit = admit ?? (() => undefined);
    this.stall = setTimeout(() => {
      // If bytes are buffered, the reader is slow, not the client.
      if (this.readableLength > 0) this.stall.refresh();
      else this.destroy(stalled(stallMs));
    }, stallMs).unref();
    this.once('close', () => clearTimeout(this.stall)).once('end', () => clearTimeout(this.stall));
    // Hashing costs as much as the transfer, so it is done only if a repeated request must be recognized.
    this.hash = currentContext()?.idempotency ? createHash('sha256') : null;
    finished(request, { writable: false }, (error) => {
      if (error) this.destroy(error);
    });
    addRequestListener(request, { onRevoked: (reason) => this.destroy(reason) });
    request.pipe(this);
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.stall.refresh();
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

  /** Reads all bytes of a repeated request to find out whether they are the same. */
  async compare(): Promise<void> {
    for await (const _chunk of this);
    this.addToIdempotency();
  }

  /** Adds the hash of the bytes, which have all arrived, to that of the request with the `Idempotency-Key`. */
  addToIdempotency(): void {
    const idempotency = currentContext()?.idempotency;
    if (idempotency && this.hash) idempotency.requestHash += `:${this.hash.digest('hex')}`;
  }
}

/** Throws a 413 if the size is larger than `maxBytes`. */
export function assertUploadSize(sizeBytes: number | null, maxBytes: number): void {
  if (sizeBytes !== null && sizeBytes > maxBytes) throw tooLarge(maxBytes);
}

async function assertNoBody(request: IncomingMessage): Promise<void> {
  const isChunked = request.headers['transfer-encoding'] !== undefined;
  const isEmpty = isChunked ? await endsEmpty(request) : Number(request.headers['content-length'] ?? 0) === 0;
  if (!isEmpty) throw invalid('REQUEST.INVALID', 'A directory has no content. Send the request without a body.');
}

function endsEmpty(request: IncomingMessage): Promise<boolean> {
  return new Promise((resolve) => {
    const decide = (isEmpty: boolean) => {
      clearTimeout(timer);
      request.pause().removeAllListeners('data');
      resolve(isEmpty);
    };
    const timer = setTimeout(() => decide(false), FIRST_BYTE_TIMEOUT_MS).unref();
    request.once('close', () => decide(false));
    request.once('end', () => decide(true));
    request.once('data', () => decide(false));
  });
}

function tooLarge(maxBytes: number): DomainError {
  return new DomainError('too-large', 'FILE.TOO_LARGE', `A file may have at most ${maxBytes} bytes.`);
}

function stalled(stallMs: number): DomainError {
  return new DomainError('timeout', 'REQUEST.TIMEOUT', `No bytes of the upload arrived for ${stallMs / 1000} seconds.`);
}
