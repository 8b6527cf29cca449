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

export interface RequestContext {
  correlationId: string;
  idempotency: IdempotencyContext | null;
  /** Set for a request that belongs in the audit log. */
  audit?: AuditDraft;
}

const storage = new AsyncLocalStorage<RequestContext>();

/** Runs `fn` with the given context; everything it awaits sees it. */
export function runInContext<T>(context: RequestContext, fn: () => T): T {
  return storage.run(context, fn);
}

export function currentContext(): RequestContext | undefined {
  return storage.getStore();
}

/** Correlation id of the request or job being served; `none` outside both. */
export function correlationId(): string {
  return storage.getStore()?.correlationId ?? 'none';
}
