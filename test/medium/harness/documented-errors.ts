import { AssertionError } from 'node:assert';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorExamples } from '../../../src/platform/http/answer-examples';
import { ROOT, testFile } from './answer-recorder';
import type { ObservedAnswer } from './observed-answers';

/** State of a test file. The files of a process run one after another, and share this module. */
interface Comparison {
  file: string;
  openCalls: Map<string, { isSingle: boolean }>;
  /** Error codes with their operation and status, as operations answered them though the document does not list them. */
  undocumented: Set<string>;
}

/** Header of the calls of tests, with the number of the call. */
const CALL_HEADER = 'x-test-call';
let lastCall = 0;
let comparison: Comparison | undefined;
let listed: ReturnType<typeof errorExamples>['operations'] | undefined;
let operationIds: ReadonlySet<string> | undefined;

/**
 * Makes a call of a test, with further headers. Only the answers to single calls are compared with the document: what is answered to calls
 * that are open at the same time may depend on which of them came first, so a test would fail at times.
 */
export async function comparedCall<T>(call: (headers: Readonly<Record<string, string>>) => Promise<T>): Promise<T> {
  const { openCalls } = currentComparison();
  lastCall += 1;
  const id = String(lastCall);
  const isSingle = openCalls.size === 0;
  for (const other of openCalls.values()) other.isSingle = false;
  openCalls.set(id, { isSingle });
  try {
    return await call({ [CALL_HEADER]: id });
  } finally {
    openCalls.delete(id);
  }
}

/** Notes an error of a client that the document does not list for the operation. */
export function compareWithDocument({ operation, status, code, request }: ObservedAnswer): void {
  const { file, openCalls, undocumented } = currentComparison();
  if (code === undefined || status >= 500 || !openCalls.get(request.get(CALL_HEADER) ?? '')?.isSingle) return;
  // Attacks and clouds cause what the document need not list.
  if (!file.startsWith('test/medium/')) return;
  listed ??= errorExamples().operations;
  if (listed[operation]?.[status]?.includes(code)) return;
  operationIds ??= new Set(documentedOperations());
  // Some tests have operations of their own.
  if (operationIds.has(operation)) undocumented.add(`${operation} ${status} ${code}`);
}

/** Throws an error that lists what {@link compareWithDocument} noted. */
export function assertErrorsDocumented(): void {
  const { file, undocumented } = currentComparison();
  const found = [...undocumented].sort();
  undocumented.clear();
  if (found.length === 0) return;
  throw new AssertionError({
    message: `These operations answered error codes that openapi.json does not list for them:\n${found.join('\n')}\nRepair: npm run examples:record -- --match=${file} && npm run build && npm run openapi`,
  });
}

function currentComparison(): Comparison {
  const file = testFile();
  if (comparison?.file !== file) comparison = { file, openCalls: new Map(), undocumented: new Set() };
  return comparison;
}

function documentedOperations(): string[] {
  const { paths } = JSON.parse(readFileSync(join(ROOT, 'openapi.json'), 'utf8')) as {
    paths: Record<string, Record<string, { operationId: string }>>;
  };
  return Object.values(paths).flatMap((item) => Object.values(item).map(({ operationId }) => operationId));
}
