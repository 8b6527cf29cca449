import type { MigrationInterface, QueryRunner } from 'typeorm';
import { backfill, createIndex, requireThisRelease, setNotNull } from './migration-steps';
import { MIGRATIONS } from './migrations';

/** The rules apply to migrations after this one, which ends the first release. */
const FIRST_RELEASE_ENDS_WITH = 'BlockedOffers1795520000000';

/** Exceptions to the rules, as `Migration: rule`, each with its reason. */
const ALLOWED: Readonly<Record<string, string>> = {};

/** Tables that may have millions of rows. */
const LARGE = [
  'answered_seconds',
  'audit_events',
  'cluster_nodes',
  'cluster_states',
  'idempotency_keys',
  'job_confs',
  'kernels',
  'ledger_entries',
  'node_states',
  'node_utilization',
  'notebook_revisions',
  'object_storage_files',
  'outbox_messages',
  'run_states',
  'runs',
  'sessions',
  'usage_days',
  'workflow_job_instance_states',
  'workflow_job_instances',
  'workflow_jobs',
  'workflow_steps',
  'workspace_files',
];

/** Changes that break processes of the previous release, on tables of any size. */
const CONTRACTS =
  /\bDROP (?:COLUMN|TABLE)\b|\bRENAME (?:COLUMN|TO)\b|\bSET NOT NULL\b|\bADD (?:COLUMN )?(?:IF NOT EXISTS )?"?\w+"? [^,]*\bNOT NULL\b(?![^,]*\bDEFAULT\b)|\bADD CONSTRAINT\b/i;

/** Returns the SQL of `up` against a database whose queries find no rows. */
async function sqlOf(migration: Pick<MigrationInterface, 'up'>): Promise<string[]> {
  const statements: string[] = [];
  const runner = {
    query: (sql: string) => {
      statements.push(sql.replaceAll(/\s+/g, ' ').trim());
      return Promise.resolve([]);
    },
    startTransaction: () => Promise.resolve(),
    commitTransaction: () => Promise.resolve(),
    rollbackTransaction: () => Promise.resolve(),
  };
  await migration.up(runner as unknown as QueryRunner);
  return statements;
}

/** Returns the rules that a migration breaks. Tables that it creates have no rows and no users, so rules do not apply to them. */
function broken(statements: readonly string[]): string[] {
  const made = new Set(statements.flatMap((sql) => /^CREATE TABLE (?:IF NOT EXISTS )?"?(\w+)/i.exec(sql)?.[1] ?? []));
  const others = statements.filter((sql) => !made.has(targetOf(sql) ?? ''));
  const isLarge = (sql: string) => LARGE.includes(targetOf(sql) ?? '');
  const valid = others.flatMap((sql) => /\bVALIDATE CONSTRAINT "?(\w+)/i.exec(sql)?.[1] ?? []);
  const says = statements.some((sql) => /^UPDATE "?schema_compatibility\b/i.test(sql));
  const rules: Record<string, (sql: string) => boolean> = {
    'an UPDATE or DELETE of a large table without pieces': (sql) =>
      isLarge(sql) &&
      /\b(?:UPDATE|DELETE FROM)\b/i.test(sql) &&
      !/^ALTER|^CREATE/i.test(sql) &&
      !/\bLIMIT \d/i.test(sql),
    'SET NOT NULL of a large table without a valid check': (sql) =>
      isLarge(sql) && /\bSET NOT NULL\b/i.test(sql) && !valid.includes(`ck_${targetOf(sql)}_not_null`),
    'ADD CONSTRAINT to a large table without NOT VALID': (sql) =>
      isLarge(sql) && /\bADD CONSTRAINT\b/i.test(sql) && !/\bNOT VALID\b/i.test(sql),
    'CREATE INDEX on a large table without CONCURRENTLY': (sql) =>
      isLarge(sql) && /^CREATE (?:UNIQUE )?INDEX (?!CONCURRENTLY)/i.test(sql),
    'something that processes of the release before cannot work with, without requireThisRelease': (sql) =>
      CONTRACTS.test(sql) && !/^ALTER INDEX/i.test(sql) && !says,
  };
  return Object.keys(rules).filter((rule) => others.some(rules[rule]!));
}

/** Returns the table that a statement changes. */
function targetOf(sql: string): string | null {
  const patterns = [
    /^ALTER TABLE (?:IF EXISTS )?(?:ONLY )?"?(\w+)/i,
    /^DROP TABLE (?:IF EXISTS )?"?(\w+)/i,
    /^CREATE (?:UNIQUE )?INDEX .*? ON (?:ONLY )?"?(\w+)/i,
    /\bUPDATE (?:ONLY )?"?(\w+)/i,
    /\bDELETE FROM (?:ONLY )?"?(\w+)/i,
  ];
  for (const pattern of patterns) {
    const found = pattern.exec(sql)?.[1];
    if (found !== undefined) return found;
  }
  return null;
}

describe('Migrations after the first release', () => {
  const first = MIGRATIONS.findIndex(({ name }) => name === FIRST_RELEASE_ENDS_WITH);

  it('block no large table for long, and no process of the previous release', async () => {
    expect(first).toBeGreaterThan(0);
    const found: string[] = [];
    for (const migration of MIGRATIONS.slice(first + 1)) {
      for (const rule of broken(await sqlOf(new migration()))) found.push(`${migration.name}: ${rule}`);
    }
    expect(found.sort()).toEqual(Object.keys(ALLOWED).sort());
  });

  it.each([
    ['UPDATE "runs" SET kind = $1', 'an UPDATE or DELETE'],
    ['WITH old AS (SELECT 1) DELETE FROM run_states', 'an UPDATE or DELETE'],
    ['CREATE UNIQUE INDEX "a" ON "runs" ("b")', 'CREATE INDEX'],
    ['ALTER TABLE "runs" ALTER COLUMN "a" SET NOT NULL', 'SET NOT NULL'],
    ['ALTER TABLE "runs" ADD CONSTRAINT "a" CHECK (b)', 'ADD CONSTRAINT'],
    ['ALTER TABLE "tenants" DROP COLUMN "a"', 'something that'],
    ['ALTER TABLE "tenants" ADD "a" text NOT NULL', 'something that'],
    ['ALTER TABLE "tenants" RENAME COLUMN "a" TO "b"', 'something that'],
    ['DROP TABLE "tenants"', 'something that'],
  ])('are refused %s', (sql, rule) => {
    expect(broken([sql]).join()).toContain(rule);
  });

  it('may make the same changes with the steps for large tables', async () => {
    const up = async (runner: QueryRunner) => {
      await requireThisRelease(runner, { name: 'This' });
      await backfill(runner, { table: 'runs', key: 'run_id', set: 'a = 1' });
      await createIndex(runner, { name: 'ix_runs_a', definition: 'ON "runs" ("a")' });
      await setNotNull(runner, 'runs', ['a']);
      await runner.query(`ALTER TABLE "runs" ADD "more" integer NOT NULL DEFAULT 0`);
      await runner.query(`CREATE TABLE "fresh" ("a" text NOT NULL)`);
      await runner.query(`CREATE INDEX "ix_fresh_a" ON "fresh" ("a")`);
    };
    expect(broken(await sqlOf({ up }))).toEqual([]);
  });
});
