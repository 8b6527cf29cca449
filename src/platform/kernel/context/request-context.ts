import { AsyncLocalStorage } from 'node:async_hooks';
import type { AuditDraft } from '../audit/audit-draft';

/** The idempotency key of the request being served, and what it stands for. */
export interface IdempotencyContext {
  key: string;
  userId: number;
  operation: string;
  /** Hash of method, path, query and body; an upload adds the hash of its bytes before it commits. */
  requestHash: string;
}

/** Whose work it is, which has a share of the database's connections. */
export interface ContextCaller {
  kind: 'user' | 'node';
  id: number;
  /** The tenant that the user has selected, null without one; the tenant of the node. */
  tenantId: string | null;
}

export interface RequestContext {
  correlationId: string;
  idempotency: IdempotencyContext | null;
  /** Absent until a guard has found the caller, and for the platform's own work. */
  caller?: ContextCaller;
  /** Set for a request that belongs in the audit log. */
  audit?: AuditDraft;
}

const storage = new AsyncLocalStorage<RequestContext>();

/** Runs `fn` with the given context; everything it awaits sees it. */
export function runInContext<T>(context: RequestContext, fn: () => T): T {
  return storage.run(context, fn);
}

/**
 * Runs what serves others, too, though one request happens to begin it: it must not wait for the share of the database's
 * connections that the caller of this request has used up.
 */
export function runWithoutCaller<T>(fn: () => T): T {
  return storage.run({ correlationId: correlationId(), idempotency: null }, fn);
}

/** Runs what the request's caller does besides, not under the request's `Idempotency-Key` or row of the audit log. */
export function runAsCaller<T>(fn: () => T): T {
  return storage.run({ correlationId: correlationId(), idempotency: null, caller: storage.getStore()?.caller }, fn);
}

export function currentContext(): RequestContext | undefined {
  return storage.getStore();
}

/** Correlation id of the request or job being served; `none` outside both. */
export function correlationId(): string {
  return storage.getStore()?.correlationId ?? 'none';
}
