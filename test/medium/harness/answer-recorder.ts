import { appendFileSync, mkdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { ObservedAnswer } from './observed-answers';

/** Records that are kept of a list. */
const MAX_RECORDS = 3;
/** Answers that are recorded of one operation with one status and code, for each process. */
const MAX_ALIKE = 40;

export const ROOT = join(__dirname, '..', '..', '..');
const recorded = new Map<string, number>();

/** A line of a recording, as `npm run examples:record` reads it. */
interface RecordedAnswer extends Pick<ObservedAnswer, 'operation' | 'status' | 'body'> {
  test: string;
}

/** Appends an answer to a file of this process in the folder, unless it is an error that any operation can answer. */
export function recordAnswer(folder: string, { operation, status, code, body }: ObservedAnswer): void {
  if (status >= 400 && code === undefined) return;
  const key = `${operation} ${status} ${code ?? ''}`;
  const count = recorded.get(key) ?? 0;
  if (count >= MAX_ALIKE) return;
  recorded.set(key, count + 1);
  const line: RecordedAnswer = { operation, status, test: testFile(), body: firstOf(body) };
  mkdirSync(folder, { recursive: true });
  appendFileSync(join(folder, `${process.pid}.jsonl`), `${JSON.stringify(line)}\n`);
}

/** Returns the path of the running test in the project. */
export function testFile(): string {
  return relative(ROOT, expect.getState().testPath ?? '');
}

/** Shortens a list of many records, such as machine types. */
function firstOf(body: unknown): unknown {
  if (Array.isArray(body)) return body.slice(0, MAX_RECORDS) as unknown[];
  const { data } = (body ?? {}) as { data?: unknown };
  return Array.isArray(data) ? { ...(body as object), data: data.slice(0, MAX_RECORDS) as unknown[] } : body;
}
