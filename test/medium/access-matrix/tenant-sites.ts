import { basename, join } from 'node:path';
import { Client } from 'pg';
import { type FindOperator, Raw } from 'typeorm';
import type * as tenantCondition from '../../../src/platform/kernel/persistence/tenant-condition';
import { correlationId } from '../../../src/platform/kernel/context/request-context';
import { CORRELATION_PREFIX } from './matrix';

type Query = (this: Client, ...args: unknown[]) => unknown;

/** A place in the code that makes a condition on a tenant. */
export interface TenantSite {
  /** `MountsRepository.list`, or outside of classes `workspaces.joins.mayRun`; `#2` for the second one in a function. */
  key: string;
  /** Operations that sent a statement with it. */
  operations: ReadonlySet<string>;
  mark: string;
}

interface KnownSite extends TenantSite {
  operations: Set<string>;
  /** Within the file: line and column. */
  position: readonly [number, number];
}

/** Methods of these names make the conditions that others of the same object begin with: those are told apart. */
const PASSED_ON: readonly (string | null)[] = ['within', 'rowsOfScope'];
const SRC = join(__dirname, '..', '..', '..', 'src');

/** By key and position. */
const sites = new Map<string, KnownSite>();
const sent = new Map<string, KnownSite[]>();
let broken: TenantSite | null = null;
const query = Reflect.get(Client.prototype, 'query') as Query;

/** Stands for `tenant-condition.ts`: makes the same conditions, each with the mark of the site that called for it. */
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

/** A comment in the condition, which is void once ` OR TRUE` stands there instead. */
function markOfCaller(helper: (...given: never[]) => unknown): string {
  const calls = callsUntil(helper).filter((call) => call.getFileName()?.startsWith(SRC));
  // A function without a name is known by who calls it; what a file makes when it is loaded, by the file.
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

/** The calls that led to the helper's, the last first. */
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

/** Of the object whose method it is, which may have inherited that; null for a function. */
function classOf(call: NodeJS.CallSite): string | null {
  const type = call.getTypeName();
  return type === null || type === 'Object' || type === 'Function' || call.getFunctionName() === null ? null : type;
}

/** Notes from now on which operations of the matrix send which marks. */
export function watchStatements(): void {
  Client.prototype.query = function (this: Client, ...[statement, ...rest]: unknown[]) {
    return query.call(this, rewritten(statement), ...rest);
  } as typeof Client.prototype.query;
}

/** Gives the driver back as it was. */
export function unwatchStatements(): void {
  Client.prototype.query = query as typeof Client.prototype.query;
}

function rewritten(statement: unknown): unknown {
  if (typeof statement === 'string') return rewrittenText(statement);
  if (typeof statement !== 'object' || statement === null || !('text' in statement)) return statement;
  const text = rewrittenText(String(statement.text));
  // Another text needs a plan of its own.
  return text === statement.text ? statement : { ...statement, text, name: undefined };
}

function rewrittenText(statement: string): string {
  const id = correlationId();
  // The matrix makes its records by some of the same statements.
  if (!id.startsWith(CORRELATION_PREFIX)) return statement;
  const concerned = sent.get(statement) ?? [...sites.values()].filter(({ mark }) => statement.includes(mark));
  sent.set(statement, concerned);
  for (const { operations } of concerned) operations.add(id.slice(CORRELATION_PREFIX.length));
  return broken && statement.includes(broken.mark) ? statement.replaceAll(broken.mark, ' OR TRUE') : statement;
}

/** The sites whose conditions have been sent until now. */
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

/** Runs `fn` while what the site makes keeps nobody out. */
export async function without<T>(site: TenantSite, fn: () => Promise<T>): Promise<T> {
  broken = site;
  try {
    return await fn();
  } finally {
    broken = null;
  }
}
