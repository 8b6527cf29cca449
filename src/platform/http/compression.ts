import { promisify } from 'node:util';
import { brotliCompress, brotliCompressSync, constants, gzip, gzipSync } from 'node:zlib';
import type { Request } from 'express';

export type Encoding = 'br' | 'gzip';

/** A smaller answer fits into one packet as it is. */
export const MIN_COMPRESSED_BYTES = 1_024;
/**
 * Up to this size, an answer is compressed in the turn in which it was made. That takes some 50 microseconds, and at most a
 * millisecond for random text; to pass it to a thread and back takes 150.
 */
const MAX_BYTES_IN_TURN = 32 * 1_024;
/** The threads that compress also hash passwords and read files, so compression may use only half of them. */
const MAX_COMPRESSIONS = 2;

const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
const GZIP = { level: 1 };

const ENCODERS = {
  br: {
    inTurn: (bytes: Buffer) => brotliCompressSync(bytes, BROTLI),
    inThread: (bytes: Buffer) => promisify(brotliCompress)(bytes, BROTLI),
  },
  gzip: {
    inTurn: (bytes: Buffer) => gzipSync(bytes, GZIP),
    inThread: (bytes: Buffer) => promisify(gzip)(bytes, GZIP),
  },
} as const;

/** Returns the encoding for a response, Brotli before gzip; null if the client accepts neither. */
export function acceptedEncoding(request: Request): Encoding | null {
  const accepted = request.acceptsEncodings();
  return (['br', 'gzip'] as const).find((encoding) => accepted.includes(encoding)) ?? null;
}

/** Compresses bodies with little effort. No request waits for another's compression. */
export class BodyCompressor {
  private running = 0;

  /** Returns the compressed body, a promise of it, or null if it has to be sent as it is because too many are compressed now. */
  compress(body: Buffer, encoding: Encoding): Buffer | Promise<Buffer> | null {
    if (body.length <= MAX_BYTES_IN_TURN) return ENCODERS[encoding].inTurn(body);
    return this.running < MAX_COMPRESSIONS ? this.compressInThread(body, encoding) : null;
  }

  private async compressInThread(body: Buffer, encoding: Encoding): Promise<Buffer> {
    this.running += 1;
    try {
      return await ENCODERS[encoding].inThread(body);
    } finally {
      this.running -= 1;
    }
  }
}
