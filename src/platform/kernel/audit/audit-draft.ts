import { nameEnum } from '../dto/named-enums';

/** The user who acts. A login identifies the user itself; for other operations it is the caller that the guard found. */
export interface AuditActor {
  /** Null if no account is known: a failed login has only a user name. */
  userId: number | null;
  /** In lower case, as user names are. For a failed login, the name that was entered. */
  username: string | null;
  /** Tenant selected for the session; null if none was selected. */
  tenantId: string | null;
  sessionId: string | null;
  sessionKind: 'login' | 'token' | null;
}

/** The audit row of the current request before its outcome is known. From the body, it holds only ids of roles. */
export interface AuditDraft extends AuditActor {
  ip: string | null;
  userAgent: string | null;
  /** Operation id, as in OpenAPI. */
  operation: string;
  method: string;
  /** The operation's path with `{braces}`. */
  path: string;
  /** Ids and names in path and query, and the roles in the body. */
  subject: AuditSubject;
  correlationId: string;
  /** Status of the response if the operation succeeds. */
  successStatus: number;
  /** True if the log has the row, or needs none because the request was a replay. */
  isRecorded: boolean;
}

/** Ids and names by their keys in the API: `{"cluster_id": 5}`. */
export type AuditSubject = Readonly<Record<string, string | number>>;

/** `refused` is a 4xx: nothing was done. `failed` is a 5xx: the platform caused it, and a part may have been done. */
export const AUDIT_OUTCOMES = nameEnum('AuditOutcome', ['done', 'refused', 'failed'], 'Outcome of a request.', {
  refused: 'with a 4xx',
  failed: 'with a 5xx',
});
export type AuditOutcome = (typeof AUDIT_OUTCOMES)[number];

export interface AuditResult {
  outcome: AuditOutcome;
  status: number;
  errorCode: string | null;
}
