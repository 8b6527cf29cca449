import { createHash, type Hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { finished, Transform, type TransformCallback } from 'node:stream';
import { currentContext } from '../kernel/context/request-context';
import { DomainError, invalid } from '../kernel/errors/domain-error';
import { freeTransferred } from '../kernel/files/transfer-memory';
import { addRequestListener } from './connections/request-caller';

/** How long it may take to find out whether a body without an announced length is empty. */
const FIRST_BYTE_MS = 10_000;

/** With less, the connection would be stopped and started again for every chunk that arrives. */
const BUFFERED_BYTES = 2 ** 20;

export interface UploadLimits {
  maxBytes: number;
  /** Longest pause between two pieces, milliseconds. */
  stallMs: number;
  /** Is told after each piece how many bytes have arrived, and throws to refuse them. */
  admit?: (receivedBytes: number) => void;
}

/** The full length of an upload as the client announces it. */
export const FILE_SIZE_HEADER = 'x-file-size';

/** As operations with an upload declare it. */
export const UPLOAD_HEADERS = { [FILE_SIZE_HEADER]: 'Full length of the file in bytes; must match what arrives' };

/** An upload as a controller passes it on: nothing of it has been read yet. */
export class Upload {
  /** @param sizeHeader what {@link FILE_SIZE_HEADER} says */
  constructor(
    private readonly request: IncomingMessage,
    private readonly sizeHeader: string | undefined,
  ) {}

  /**
   * The size that the client announces in {@link FILE_SIZE_HEADER}, bytes; null without it, a 400 if it is not a
   * number.
   */
  get announcedBytes(): number | null {
    return announcedSize(this.sizeHeader);
  }

  /** The length of the request's body, bytes; null of a chunked one. */
  get bodyBytes(): number | null {
    const length = this.request.headers['content-length'];
    return length === undefined ? null : Number(length);
  }

  /** Begins to read. */
  body(limits: UploadLimits): UploadBody {
    return new UploadBody(this.request, limits);
  }

  /** Throws a 400 if there are bytes although this operation takes none. */
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
 * The bytes of an upload, counted on their way. Fails with a 413 as soon as there are more than `maxBytes`, with what
 * `admit` throws, when its caller is no longer admitted, with a 408 when none arrive for `stallMs` although they are
 * awaited, and when the client goes away; otherwise it may take any time. Unlike the request itself it can be destroyed
 * without the connection, which has yet to carry the answer.
 */
export class UploadBody extends Transform {
  receivedBytes = 0;
  private readonly hash: Hash | null;

  private readonly maxBytes: number;
  private readonly admit: (receivedBytes: number) => void;
  private readonly stall: NodeJS.Timeout;

  constructor(request: IncomingMessage, { maxBytes, stallMs, admit }: UploadLimits) {
    super({ highWaterMark: BUFFERED_BYTES });
    this.maxBytes = maxBytes;
    this.admit = admit ?? (() => undefined);
    this.stall = setTimeout(() => {
      // If bytes are at hand, it is the reader that is slow, not the client.
      if (this.readableLength > 0) this.stall.refresh();
      else this.destroy(stalled(stallMs));
    }, stallMs).unref();
    this.once('close', () => clearTimeout(this.stall)).once('end', () => clearTimeout(this.stall));
    // Costs as much as the transfer itself, so it is done only if a repeated request must be recognized.
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

  /** Reads all bytes of a repeated request, only to know whether they are the same. */
  async compare(): Promise<void> {
    for await (const _chunk of this);
    this.addToIdempotency();
  }

  /** Adds the bytes, which have all arrived, to what the request's `Idempotency-Key` stands for. */
  addToIdempotency(): void {
    const idempotency = currentContext()?.idempotency;
    if (idempotency && this.hash) idempotency.requestHash += `:${this.hash.digest('hex')}`;
  }
}

/** Throws a 413 for an upload that is announced as too large. */
export function assertUploadSize(sizeBytes: number | null, maxBytes: number): void {
  if (sizeBytes !== null && sizeBytes > maxBytes) throw tooLarge(maxBytes);
}

async function assertNoBody(request: IncomingMessage): Promise<void> {
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
    const timer = setTimeout(() => decide(false), FIRST_BYTE_MS).unref();
    request.once('close', () => decide(false));
    request.once('end', () => decide(true));
    request.once('data', () => decide(false));
  });
}

function tooLarge(maxBytes: number): DomainError {
  return new DomainError('too-large', 'FILE.TOO_LARGE', `A file may have at most ${maxBytes} bytes.`);
}

function stalled(stallMs: number): DomainError {
  return new DomainError('timeout', 'REQUEST.TIMEOUT', `Nothing of the upload arrived for ${stallMs / 1000} seconds.`);
}
