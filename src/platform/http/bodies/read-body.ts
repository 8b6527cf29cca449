import type { IncomingMessage } from 'node:http';
import { DomainError, invalid } from '../../kernel/errors/domain-error';
import { LARGE_FROM_BYTES } from '../../kernel/json/json-thread';
import { type LargeBodyTurns, TURN_BYTES } from './large-body-turns';

export interface BodyLimits {
  maxBytes: number;
  /** Timeout of the whole body, milliseconds. */
  timeoutMs: number;
  /** Reserves memory for bytes before they are kept; throws if there is not enough. */
  hold?: (bytes: number) => void;
  /** Orders the turns of large bodies. */
  turns?: Pick<LargeBodyTurns, 'waitToRead'>;
}

/** A body in smaller chunks than this on average is refused, because each chunk costs as much as a thousand bytes. */
const MIN_CHUNK_BYTES = 64;
/** Chunks are checked from this number on, because their sizes also depend on networks. */
const MANY_CHUNKS = 1_000;
const FIRST_BYTES = 16 * 1024;

/**
 * Reads all bytes of a body. Rejects with a 413 as soon as there are more than `maxBytes`, whatever length was announced, with
 * a 408 if they do not arrive in time, and if the client disconnects. The error filter drains the rest.
 */
export function readBody(request: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  const { maxBytes, timeoutMs, hold, turns } = limits;
  const length = Number(request.headers['content-length'] ?? maxBytes);
  if (length > maxBytes) return Promise.reject(bodyTooLarge(maxBytes));
  return new Promise((resolve, reject) => {
    const received = new ReceivedBytes(length);
    let turnEnds = LARGE_FROM_BYTES;
    const stop = () => {
      clearTimeout(timer);
      request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
    };
    const fail = (error: unknown) => {
      stop();
      request.pause();
      reject(error instanceof Error ? error : new Error(String(error)));
    };
    const onData = (chunk: Buffer) => {
      try {
        if (received.size + chunk.length > maxBytes) throw bodyTooLarge(maxBytes);
        hold?.(chunk.length);
        received.add(chunk);
        if (turns && received.size >= turnEnds) {
          turnEnds = received.size + TURN_BYTES;
          request.pause();
          turns.waitToRead(() => request.resume());
        }
      } catch (error) {
        fail(error);
      }
    };
    const onEnd = () => {
      stop();
      resolve(received.bytes());
    };
    const onClose = () => fail(invalid('REQUEST.ABORTED', 'The body ended before its announced length.'));
    const timer = setTimeout(() => fail(bodyTooSlow(timeoutMs)), timeoutMs);
    if (request.destroyed) onClose();
    else request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
  });
}

/** Collects bytes in one buffer, however small the chunks are in which they arrive. */
class ReceivedBytes {
  size = 0;
  private chunks = 0;
  private memory = Buffer.alloc(0);

  /** @param length upper bound of the bytes */
  constructor(private readonly length: number) {}

  add(chunk: Buffer): void {
    this.chunks += 1;
    const size = this.size + chunk.length;
    if (this.chunks > MANY_CHUNKS && size < this.chunks * MIN_CHUNK_BYTES) {
      throw invalid('REQUEST.INVALID', 'The body arrived in too many small pieces.');
    }
    if (size > this.memory.length) {
      // A large buffer is allocated at once, because the system provides its memory only as it is filled.
      const larger = size > LARGE_FROM_BYTES ? this.length : Math.max(FIRST_BYTES, size, this.memory.length * 2);
      const memory = Buffer.allocUnsafeSlow(Math.min(this.length, larger));
      this.memory.copy(memory, 0, 0, this.size);
      this.memory = memory;
    }
    chunk.copy(this.memory, this.size);
    this.size = size;
  }

  bytes(): Buffer {
    return this.memory.subarray(0, this.size);
  }
}

/** Returns the 413 for a body larger than the operation accepts. */
export function bodyTooLarge(maxBytes: number): DomainError {
  const message = `The body is larger than the ${maxBytes} bytes that this operation accepts.`;
  return new DomainError('too-large', 'REQUEST.TOO_LARGE', message);
}

function bodyTooSlow(timeoutMs: number): DomainError {
  const message = `The body did not arrive within ${timeoutMs / 1000} seconds.`;
  return new DomainError('timeout', 'REQUEST.TIMEOUT', message);
}
