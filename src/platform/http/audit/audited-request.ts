import { isForNodes } from '../../kernel/auth/access';
import type { Principal } from '../../kernel/auth/principal';
import type { AuthenticatedRequest } from '../auth/request-principal';
import { currentContext } from '../../kernel/context/request-context';
import { changesRecords, type OperationOptions } from '../operation-options';
import type { AuditActor, AuditDraft } from '../../kernel/audit/audit-draft';
import { storable, subjectOf } from '../../kernel/audit/audit-subject';

const MAX_USER_AGENT = 500;
const UNKNOWN_ACTOR: AuditActor = { userId: null, username: null, tenantId: null, sessionId: null, sessionKind: null };

/**
 * Returns the draft of a request that belongs in the audit log, and creates it on the first call. It belongs there if its
 * operation changes records and the caller is known, or if it opens a session. Returns null for other requests.
 */
export function auditDraftOf(request: AuthenticatedRequest): AuditDraft | null {
  const context = currentContext();
  const { operation, principal } = request;
  if (!context || !operation || !isAudited(operation)) return null;
  if (!principal && !operation.opensSession) return null;
  context.audit ??= {
    ...(principal ? actorOf(principal) : UNKNOWN_ACTOR),
    ip: request.ip ?? null,
    userAgent: userAgentOf(request),
    operation: operation.id,
    method: operation.method,
    path: operation.path,
    subject: subjectOf(request.params, request.query),
    correlationId: context.correlationId,
    successStatus: operation.status ?? 200,
    isRecorded: operation.auditsOnlyRefusals === true,
  };
  return context.audit;
}

/** Sets the actor of a login. Does nothing outside of an audited request. */
export function setAuditActor(actor: Partial<AuditActor>): void {
  const draft = currentContext()?.audit;
  if (!draft) return;
  Object.assign(draft, actor);
  if (draft.username !== null) draft.username = storable(draft.username).toLowerCase();
}

/** Adds a value of the body that the audit log must contain. Does nothing outside of an audited request. */
export function addAuditSubject(key: string, text: string): void {
  const draft = currentContext()?.audit;
  if (draft) draft.subject = { ...draft.subject, [key]: storable(text) };
}

function actorOf({ userId, username, tenantId, sessionId, sessionKind }: Principal): AuditActor {
  return { userId, username, tenantId, sessionId, sessionKind };
}

function isAudited(operation: OperationOptions): boolean {
  if (operation.opensSession) return true;
  return changesRecords(operation) && operation.access.kind !== 'public' && !isForNodes(operation.access);
}

function userAgentOf(request: AuthenticatedRequest): string | null {
  const text = request.get('user-agent');
  return text === undefined ? null : storable(text, MAX_USER_AGENT);
}
