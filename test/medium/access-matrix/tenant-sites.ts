import { basename, join } from 'node:path';
import { Client } from 'pg';
import { type FindOperator, Raw } from 'typeorm';
import type * as tenantCondition from '../../../src/platform/kernel/persistence/tenant-condition';
import { correlationId } from '../../../src/platform/kernel/context/request-context';
import { CORRELATION_PREFIX } from './matrix';

type Query = (this: Client, ...args: unknown[]) => unknown;

/** A place in the code that builds a condition on a tenant. */
export interface TenantSite {
  /** `MountsRepository.list`, or outside of classes `workspaces.joins.mayRun`; `#2` for the second one in a function. */
  key: string;
  /** Operations that sent a statement with the condition. */
  operations: ReadonlySet<string>;
  mark: string;
}

interface KnownSite extends TenantSite {
  operations: Set<string>;
  /** Line and column in the file. */
  position: readonly [number, number];
}

/** Methods whose condition other methods of the same object reuse; each of those methods is a site of its own. */
const PASSED_ON: readonly (string | null)[] = ['within', 'rowsOfScope'];
const SRC = join(__dirname, '..', '..', '..', 'src');

/** Sites by key and position. */
const sites = new Map<string, KnownSite>();
const sent = new Map<string, KnownSite[]>();
let broken: TenantSite | null = null;
const query = Reflect.get(Client.prototype, 'query') as Query;

/** Replaces `tenant-condition.ts`: builds the same conditions, each with the mark of the calling site. */
export const markedConditions: typeof tenantCondition = {
  ofTenant(alias, place = '?', column = 'tenant_id') {
    return `(${alias}.${column} = ${place}${markOfCaller(markedConditions.ofTenant)})`;
  },
  inTenant({ tenantId }) {
    const mark = markOfCaller(markedConditions.inTenant);
    const operator: FindOperator<string> = Raw((column) => `(${column} = :tenantId${mark})`, { tenantId });
    return { tenant_id: operator as unknown as string };
  },
};

/** An SQL comment in the condition. Replacing it by ` OR TRUE` disables the condition. */
function markOfCaller(helper: (...given: never[]) => unknown): string {
  const calls = callsUntil(helper).filter((call) => call.getFileName()?.startsWith(SRC));
  // An anonymous function is named after its caller; a condition built while a file loads, after the file.
  const caller =
    calls.find((call) => call.getFunctionName() && !PASSED_ON.includes(call.getFunctionName())) ?? calls[0];
  if (!caller) throw new Error('Nobody calls for the condition');
  const owner = classOf(caller) ?? basename(caller.getFileName() ?? '', '.ts');
  const key = [owner, caller.getFunctionName()].filter(Boolean).join('.');
  const position = [caller.getLineNumber() ?? 0, caller.getColumnNumber() ?? 0] as const;
  const id = `${key} ${position.join(':')}`;
  const site = sites.get(id) ?? { key, position, operations: new Set(), mark: `/* site ${sites.size + 1}. */` };
  sites.set(id, site);
  return site.mark;
}

/** Returns the calls that led to the call of the helper, the last first. */
function callsUntil(helper: (...given: never[]) => unknown): NodeJS.CallSite[] {
  const { prepareStackTrace, stackTraceLimit } = Error;
  try {
    Error.stackTraceLimit = 30;
    Error.prepareStackTrace = (_error, calls) => calls;
    const trace: { stack?: NodeJS.CallSite[] } = {};
    Error.captureStackTrace(trace, helper);
    return trace.stack ?? [];
  } finally {
    Object.assign(Error, { prepareStackTrace, stackTraceLimit });
  }
}

/** Returns the class of the object whose method was called, which may inherit the method; null for a function. */
function classOf(call: NodeJS.CallSite): string | null {
  const type = call.getTypeName();
  return type === null || type === 'Object' || type === 'Function' || call.getFunctionName() === null ? null : type;
}

/** Records from now on which operations of the matrix send which marks. */
export function watchStatements(): void {
  Client.prototype.query = function (this: Client, ...[statement, ...rest]: unknown[]) {
    return query.call(this, rewritten(statement), ...rest);
  } as typeof Client.prototype.query;
}

/** Restores the driver. */
export function unwatchStatements(): void {
  Client.prototype.query = query as typeof Client.prototype.query;
}

function rewritten(statement: unknown): unknown {
  if (typeof statement === 'string') return rewrittenText(statement);
  if (typeof statement !== 'object' || statement === null || !('text' in statement)) return statement;
  const text = rewrittenText(String(statement.text));
  // A changed statement needs a plan of its own.
  return text === statement.text ? statement : { ...statement, text, name: undefined };
}

function rewrittenText(statement: string): string {
  const id = correlationId();
  // The matrix creates its records with some of the same statements.
  if (!id.startsWith(CORRELATION_PREFIX)) return statement;
  const concerned = sent.get(statement) ?? [...sites.values()].filter(({ mark }) => statement.includes(mark));
  sent.set(statement, concerned);
  for (const { operations } of concerned) operations.add(id.slice(CORRELATION_PREFIX.length));
  return broken && statement.includes(broken.mark) ? statement.replaceAll(broken.mark, ' OR TRUE') : statement;
}

/** Returns the sites whose conditions have been sent until now. */
export function sentSites(): TenantSite[] {
  const times = new Map<string, number>();
  return [...sites.values()]
    .filter(({ operations }) => operations.size > 0)
    .sort(({ position: [line, column] }, { position: other }) => line - other[0] || column - other[1])
    .map((site) => {
      const time = (times.get(site.key) ?? 0) + 1;
      times.set(site.key, time);
      return { ...site, key: time === 1 ? site.key : `${site.key} #${time}` };
    });
}

/** Runs `fn` while the condition of the site is disabled. */
export async function without<T>(site: TenantSite, fn: () => Promise<T>): Promise<T> {
  broken = site;
  try {
    return await fn();
  } finally {
    broken = null;
  }
}
