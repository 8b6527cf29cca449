import { appendFileSync, mkdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { NextFunction, Request, Response } from 'express';
import type { AuthenticatedRequest } from '../../../src/platform/http/auth/request-principal';

/** Longer answers are no examples. */
const MAX_RECORDED = 4 * 2 ** 20;
/** Records that are kept of a list. */
const MAX_RECORDS = 3;
/** Answers that are recorded of one operation with one status and code, for each process. */
const MAX_ALIKE = 40;

const ROOT = join(__dirname, '..', '..', '..');
const recorded = new Map<string, number>();

/** An answer of an operation to a test, as `npm run examples:record` reads it. */
interface Observed {
  operation: string;
  status: number;
  test: string;
  body: unknown;
}

/** Middleware that appends the JSON answers of operations to a file of this process, if TEST_RECORD_ANSWERS names a folder. */
export function observeAnswers(request: Request, response: Response, next: NextFunction): void {
  const folder = process.env['TEST_RECORD_ANSWERS'];
  if (folder === undefined) {
    next();
    return;
  }
  const send = response.send.bind(response);
  response.send = (body?: unknown) => {
    const { operation } = request as AuthenticatedRequest;
    if (operation && !operation.internal) record(folder, { operation: operation.id, response, body });
    return send(body);
  };
  next();
}

function record(
  folder: string,
  { operation, response, body }: { operation: string; response: Response; body: unknown },
): void {
  if (!(response.get('content-type') ?? '').startsWith('application/json')) return;
  const text = Buffer.isBuffer(body) ? unpacked(body, response.get('content-encoding')).toString() : body;
  if (typeof text !== 'string' || text.length > MAX_RECORDED) return;
  const observed: Observed = {
    operation,
    status: response.statusCode,
    test: relative(ROOT, expect.getState().testPath ?? ''),
    body: firstOf(JSON.parse(text)),
  };
  const { error_code: code } = (observed.body ?? {}) as { error_code?: string };
  const key = `${operation} ${observed.status} ${code ?? ''}`;
  const count = recorded.get(key) ?? 0;
  if (count >= MAX_ALIKE) return;
  recorded.set(key, count + 1);
  mkdirSync(folder, { recursive: true });
  appendFileSync(join(folder, `${process.pid}.jsonl`), `${JSON.stringify(observed)}\n`);
}

/** Shortens a list of many records, such as machine types. */
function firstOf(body: unknown): unknown {
  if (Array.isArray(body)) return body.slice(0, MAX_RECORDS) as unknown[];
  const { data } = (body ?? {}) as { data?: unknown };
  return Array.isArray(data) ? { ...(body as object), data: data.slice(0, MAX_RECORDS) as unknown[] } : body;
}

function unpacked(body: Buffer, encoding: string | undefined): Buffer {
  if (encoding === 'br') return brotliDecompressSync(body);
  return encoding === 'gzip' ? gunzipSync(body) : body;
}
