import { jsonb, Params, type Db } from '../persistence/sql';
import type { AuditDraft, AuditResult } from './audit-draft';
import { subjectOf } from './audit-subject';
import { changesOf, type RecordedChanges } from './record-changes';

/** Appends the row of a finished request. */
export async function appendAuditEvent(db: Db, draft: AuditDraft, result: AuditResult): Promise<void> {
  const params = new Params();
  await db.query(auditInsert(params, draft, result, null), params.values);
}

/** Appends the row of a successful request, whose response names the record that was created. */
export async function appendSuccess(db: Db, draft: AuditDraft, response: unknown): Promise<void> {
  const params = new Params();
  await db.query(successInsert(db, params, draft, response), params.values);
}

/** Returns the statement of {@link appendSuccess}, which may follow CTEs, with what the transaction `db` has changed. */
export function successInsert(db: Db, params: Params, draft: AuditDraft, response: unknown): string {
  const subject = { ...draft.subject, ...subjectOf(response) };
  const result = { outcome: 'done', status: draft.successStatus, errorCode: null } as const;
  return auditInsert(params, { ...draft, subject }, result, changesOf(db));
}

function auditInsert(
  params: Params,
  draft: AuditDraft,
  { outcome, status, errorCode }: AuditResult,
  changes: RecordedChanges | null,
): string {
  const { tenantId, userId, username, sessionId, sessionKind, ip, userAgent } = draft;
  const { operation, method, path, subject, correlationId } = draft;
  const who = params.addAll([tenantId, userId, username, sessionId, sessionKind, ip, userAgent]);
  const what = params.addAll([
    operation,
    method,
    path,
    jsonb(subject),
    outcome,
    status,
    errorCode,
    correlationId,
    jsonb(changes),
  ]);
  return `INSERT INTO audit_events (tenant_id, user_id, username, session_id, session_kind, ip, user_agent,
      operation, method, path, subject, outcome, status, error_code, correlation_id, changes)
    VALUES (${who}, ${what})`;
}
