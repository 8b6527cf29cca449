import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { NextFunction, Request, Response } from 'express';
import { LONG_JSON, readUntrusted } from '../../../libs/json/parse-json';
import type { AuthenticatedRequest } from '../../../src/platform/http/auth/request-principal';
import { recordAnswer } from './answer-recorder';
import { compareWithDocument } from './documented-errors';

/** Longer answers are not observed. */
const MAX_BYTES = 4 * 2 ** 20;

/** Any operation can answer these, because guards, the reading of bodies or a lack of something cause them. */
const GENERAL =
  /^(AUTH\.(?!NOT_SSO)|TENANT\.(NOT_SELECTED|CHANGED)$|WORKSPACE\.PERMISSION_REQUIRED$|INTERNAL$|ROUTE\.|REQUEST\.(TOO_LARGE|UNSUPPORTED_MEDIA|MALFORMED_JSON|INVALID_TEXT|IDEMPOTENCY_MISMATCH|TOO_MANY_STREAMS)$|CALL\.GONE$)/;

/** Number of functions that {@link unobserved} runs. */
let unobservedNow = 0;

/** A JSON answer of an operation of the document. */
export interface ObservedAnswer {
  operation: string;
  status: number;
  /** Error code, unless any operation can answer it. */
  code: string | undefined;
  body: unknown;
  request: Request;
}

/** Middleware that compares error codes with the document, or records JSON answers if TEST_RECORD_ANSWERS names a folder. */
export function observeAnswers(request: Request, response: Response, next: NextFunction): void {
  const folder = process.env['TEST_RECORD_ANSWERS'];
  const chunks: Buffer[] = [];
  let size = 0;
  const keep = (chunk: unknown) => {
    if (size > MAX_BYTES || (folder === undefined && response.statusCode < 400)) return;
    if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) return;
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    chunks.push(bytes);
  };
  const write = response.write.bind(response) as (...args: unknown[]) => boolean;
  const end = response.end.bind(response) as (...args: unknown[]) => Response;
  response.write = (...args: unknown[]) => {
    keep(args[0]);
    return write(...args);
  };
  response.end = (...args: unknown[]) => {
    keep(args[0]);
    const answer = unobservedNow === 0 && size <= MAX_BYTES ? answerOf(request, response, Buffer.concat(chunks)) : null;
    if (answer) {
      if (folder === undefined) compareWithDocument(answer);
      else recordAnswer(folder, answer);
    }
    return end(...args);
  };
  next();
}

/** Runs `fn` without observing what is answered meanwhile, because the API is broken on purpose. */
export async function unobserved<T>(fn: () => Promise<T>): Promise<T> {
  unobservedNow += 1;
  try {
    return await fn();
  } finally {
    unobservedNow -= 1;
  }
}

function answerOf(request: Request, response: Response, bytes: Buffer): ObservedAnswer | null {
  const { operation } = request as AuthenticatedRequest;
  if (!operation || operation.internal || bytes.length === 0) return null;
  if (!(response.get('content-type') ?? '').startsWith('application/json')) return null;
  const body = readUntrusted(unpacked(bytes, response.get('content-encoding')), LONG_JSON);
  // A part of a file is not JSON, even if the file is.
  if (body === undefined) return null;
  const { statusCode: status } = response;
  const { error_code: code } = (status < 400 ? {} : (body ?? {})) as { error_code?: string };
  return {
    operation: operation.id,
    status,
    code: code === undefined || GENERAL.test(code) ? undefined : code,
    body,
    request,
  };
}

function unpacked(body: Buffer, encoding: string | undefined): Buffer {
  if (encoding === 'br') return brotliDecompressSync(body);
  return encoding === 'gzip' ? gunzipSync(body) : body;
}
