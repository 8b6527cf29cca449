import { Client } from 'pg';
import { correlationId } from '../../../src/platform/context/request-context';
import { CORRELATION_PREFIX } from './matrix';

/** A condition on a tenant in one statement that the API sends. */
export interface TenantCondition {
  statement: string;
  /** Where in the statement. */
  index: number;
  condition: string;
  /** Names the condition among those of its kind: verb, table, lock, columns compared with parameters, condition; `#2` for the second. */
  key: string;
  /** Operations that sent the statement. */
  operations: ReadonlySet<string>;
}

const COLUMN = String.raw`(?:"?\w+"?\.)?"?(?:owner_|granted_by_)?tenant_id"?`;
/** The column compared with a parameter, with another column, or with a query. */
const CONDITION = new RegExp(String.raw`${COLUMN} (?:(?:=|<>) (?:\$\d+(?:::uuid)?|${COLUMN})|IN \()`, 'g');
/**
 * A join by tenant and id. Nothing depends on its tenant: the foreign keys are composite, which
 * tenant-isolation.medium-spec.ts holds, so that the id leads to no other tenant's record.
 */
const COMPOSITE_JOIN = /^(\w+)\.tenant_id = (\w+)\.tenant_id\s+AND \1\.(\w+_id) = \2\.\3\b/;
/** Records of a page, found by the keys that the same statement has chosen before. */
const KEY_OF_PAGE = /\bt\.tenant_id = page\.page_tenant_id\b/g;
/** Any comparison at all, so that none is overlooked. */
const COMPARISON = new RegExp(String.raw`${COLUMN}\s*(?:=|<>|!=|<|>|\bIN\b|\bNOT\b)|=\s*${COLUMN}`, 'gi');

type Query = (this: Client, ...args: unknown[]) => unknown;

/** Notes which statements the operations of the matrix send, and can send one of them with a condition made void. */
export class SqlConditions {
  private readonly sent = new Map<string, Set<string>>();
  /** Errors of rewritten statements that PostgreSQL did not understand. */
  readonly misunderstood: string[] = [];
  private readonly original = Reflect.get(Client.prototype, 'query') as Query;
  private replaced: { statement: string; by: string } | null = null;

  constructor() {
    const query = this.original;
    const rewrite = (statement: unknown) => this.rewrite(statement);
    const watch = (result: unknown) => this.watch(result);
    Client.prototype.query = function (this: Client, ...[statement, ...rest]: unknown[]) {
      const rewritten = rewrite(statement);
      const result = query.call(this, rewritten, ...rest);
      if (rewritten !== statement) watch(result);
      return result;
    } as typeof Client.prototype.query;
  }

  /** Gives the driver back as it was. */
  restore(): void {
    Client.prototype.query = this.original as typeof Client.prototype.query;
  }

  /** Conditions on tenants in what was sent until now. */
  conditions(): TenantCondition[] {
    return [...this.sent].flatMap(([statement, operations]) => {
      const times = new Map<string, number>();
      return matchesIn(statement, CONDITION)
        .filter(({ index }) => !COMPOSITE_JOIN.test(statement.slice(index)))
        .map(({ index, text }) => {
          const key = keyOf(statement, text);
          const time = (times.get(key) ?? 0) + 1;
          times.set(key, time);
          return { statement, index, condition: text, key: time === 1 ? key : `${key} #${time}`, operations };
        });
    });
  }

  /** Comparisons with a tenant that `conditions` does not know the form of. */
  unknownComparisons(): string[] {
    return [...this.sent.keys()].flatMap((statement) => {
      const known = [...matchesIn(statement, CONDITION), ...matchesIn(statement, KEY_OF_PAGE)];
      const isKnown = (at: number) => known.some(({ index, text }) => at >= index && at < index + text.length);
      return matchesIn(statement, COMPARISON)
        .filter(({ index }) => !isKnown(index))
        .map(({ text }) => `${text} in ${statement}`);
    });
  }

  /** Runs `fn` while the statement is sent with the condition made void. */
  async without<T>({ statement, index, condition }: TenantCondition, fn: () => Promise<T>): Promise<T> {
    const rest = statement.slice(index + condition.length);
    this.replaced = { statement, by: statement.slice(0, index) + voided(condition) + rest };
    try {
      return await fn();
    } finally {
      this.replaced = null;
    }
  }

  /** A statement that PostgreSQL does not understand would be noticed for the wrong reason. */
  private watch(result: unknown): void {
    if (!(result instanceof Promise)) throw new Error('The driver is expected to answer a promise');
    result.catch((error: { code?: string; message: string }) => {
      if (error.code?.startsWith('42')) this.misunderstood.push(error.message);
    });
  }

  private rewrite(statement: unknown): unknown {
    if (typeof statement !== 'string' || !statement.includes('tenant_id')) return statement;
    const id = correlationId();
    // The matrix makes its records by some of the same statements.
    if (!id.startsWith(CORRELATION_PREFIX)) return statement;
    this.note(statement, id.slice(CORRELATION_PREFIX.length));
    return this.replaced?.statement === statement ? this.replaced.by : statement;
  }

  private note(statement: string, operation: string): void {
    const operations = this.sent.get(statement) ?? new Set();
    operations.add(operation);
    this.sent.set(statement, operations);
  }
}

/** The condition so that it keeps nobody out: what looks for other tenants finds none. */
function voided(condition: string): string {
  if (condition.endsWith('(')) return `TRUE OR ${condition}`;
  return condition.includes('<>') ? `(${condition} AND FALSE)` : `(${condition} OR TRUE)`;
}

const COMPARED = /(?:"?\w+"?\.)?"?(\w+)"?(?:->>'\w+')? (?:=|ILIKE|IN) (?:ANY\()?\$\d+/g;

function keyOf(statement: string, condition: string): string {
  const flat = statement.replaceAll(/\s+/g, ' ').trim();
  const [, verb = '', table = ''] =
    /^(UPDATE) "?(\w+)/.exec(flat) ??
    /^(SELECT|DELETE).* FROM (\w+) t\b/.exec(flat) ??
    /^(SELECT|DELETE).*?(?<!DISTINCT) FROM "?(\w+)/.exec(flat) ??
    [];
  const what = /^SELECT (?:status, )?count\(\*\)/.test(flat) ? 'COUNT' : verb;
  const [lock = ''] = / FOR (?:UPDATE|SHARE)\b/.exec(flat) ?? [];
  const compared = matchesIn(flat, COMPARED).map(({ text }) => text.replace(COMPARED, '$1'));
  const by = [...new Set(compared)].sort().join(', ');
  return `${what}${lock} ${table} by ${by}: ${condition.replaceAll('"', '').replace(/\$\d+/, '?')}`;
}

/** What an UPDATE sets is no condition. */
function matchesIn(statement: string, pattern: RegExp): { index: number; text: string }[] {
  const from = /^\s*UPDATE\b/i.test(statement) ? statement.search(/\bWHERE\b/i) : 0;
  return [...statement.matchAll(pattern)]
    .filter(({ index }) => index >= from)
    .map((match) => ({ index: match.index, text: match[0] }));
}
