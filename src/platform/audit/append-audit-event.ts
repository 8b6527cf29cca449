import { jsonb, type Tx } from '../persistence/sql';
import type { AuditDraft, AuditResult } from './audit-draft';
import { subjectOf } from './audit-subject';

const APPEND = `
  INSERT INTO audit_events (tenant_id, user_id, username, session_id, session_kind, ip, user_agent,
    operation, method, path, subject, outcome, status, error_code, correlation_id)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`;

/** Appends the row of a finished request. */
export async function appendAuditEvent(tx: Tx, draft: AuditDraft, result: AuditResult): Promise<void> {
  await tx.query(APPEND, [
    draft.tenantId,
    draft.userId,
    draft.username,
    draft.sessionId,
    draft.sessionKind,
    draft.ip,
    draft.userAgent,
    draft.operation,
    draft.method,
    draft.path,
    jsonb(draft.subject),
    result.outcome,
    result.status,
    result.errorCode,
    draft.correlationId,
  ]);
}

/** Appends the success of a request; its answer names the record that was created. */
export async function appendSuccess(tx: Tx, draft: AuditDraft, answer: unknown): Promise<void> {
  const subject = { ...draft.subject, ...subjectOf(answer) };
  const result = { outcome: 'done', status: draft.successStatus, errorCode: null } as const;
  await appendAuditEvent(tx, { ...draft, subject }, result);
}
