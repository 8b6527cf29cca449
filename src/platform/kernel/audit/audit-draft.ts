/** Who acts. A login finds it out on the way; elsewhere it is the caller that the guard found. */
export interface AuditActor {
  /** Null if no account is known: a failed login has only a user name. */
  userId: number | null;
  /** In lower case, as user names are; what was typed in a login that failed. */
  username: string | null;
  /** Tenant selected for the session; null when none was. */
  tenantId: string | null;
  sessionId: string | null;
  sessionKind: 'login' | 'token' | null;
}

/**
 * What the audit log will say about the request being served, before its outcome is known. Of the body it holds only
 * ids of roles.
 */
export interface AuditDraft extends AuditActor {
  ip: string | null;
  userAgent: string | null;
  /** Operation id, as in OpenAPI. */
  operation: string;
  method: string;
  /** The operation's path with `{braces}`. */
  path: string;
  /** Ids and names that path and query name, and the roles that the body does. */
  subject: AuditSubject;
  correlationId: string;
  /** Status that the operation answers when it succeeds. */
  successStatus: number;
  /** Whether the log has its success, or needs none because nothing was done again. */
  settled: boolean;
}

/** Ids and names by the key under which the API has them: `{"cluster_id": 5}`. */
export type AuditSubject = Readonly<Record<string, string | number>>;

/**
 * `refused` for 4xx: nothing was done. `failed` for 5xx: the cause is the platform's, and part of it may have been
 * done.
 */
export const AUDIT_OUTCOMES = ['done', 'refused', 'failed'] as const;
export type AuditOutcome = (typeof AUDIT_OUTCOMES)[number];

export interface AuditResult {
  outcome: AuditOutcome;
  status: number;
  errorCode: string | null;
}
