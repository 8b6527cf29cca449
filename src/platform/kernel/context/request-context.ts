import { AsyncLocalStorage } from 'node:async_hooks';
import type { AuditDraft } from '../audit/audit-draft';

/** The idempotency key of the current request, and the request that it stands for. */
export interface IdempotencyContext {
  key: string;
  userId: number;
  operation: string;
  /** Hash of method, path, query and body; an upload adds the hash of its bytes before it commits. */
  requestHash: string;
}

/** The user or node for whom the process works. Each has a share of the database connections. */
export interface ContextCaller {
  kind: 'user' | 'node';
  id: number;
  /** Tenant of the node, or the tenant that the user has selected; null if none is selected. */
  tenantId: string | null;
}

export interface RequestContext {
  correlationId: string;
  idempotency: IdempotencyContext | null;
  /** Absent until a guard has identified the caller, and for the platform's own work. */
  caller?: ContextCaller;
  /** Present if the request belongs in the audit log. */
  audit?: AuditDraft;
}

const storage = new AsyncLocalStorage<RequestContext>();

/** Runs `fn` with this context, which also holds for everything that `fn` awaits. */
export function runInContext<T>(context: RequestContext, fn: () => T): T {
  return storage.run(context, fn);
}

/**
 * Runs shared work that one request happens to start. It has no caller, because it must not wait for a database connection
 * if the caller of this request has used up its share.
 */
export function runWithoutCaller<T>(fn: () => T): T {
  return storage.run({ correlationId: correlationId(), idempotency: null }, fn);
}

/** Runs further work of the request's caller, outside the request's `Idempotency-Key` and audit row. */
export function runAsCaller<T>(fn: () => T): T {
  return storage.run({ correlationId: correlationId(), idempotency: null, caller: storage.getStore()?.caller }, fn);
}

export function currentContext(): RequestContext | undefined {
  return storage.getStore();
}

/** Returns the correlation id of the current request or job; `none` outside both. */
export function correlationId(): string {
  return storage.getStore()?.correlationId ?? 'none';
}
