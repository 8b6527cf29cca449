import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { AuthenticatedRequest } from '../auth/request-principal';
import type { Fault } from '../../kernel/errors/error-response';
import { runWithoutCaller } from '../../kernel/context/request-context';
import { LOGGER, type Logger } from '../../kernel/logging/logger';
import type { Db } from '../../kernel/persistence/sql';
import { appendAuditEvent, appendSuccess } from '../../kernel/audit/append-audit-event';
import type { AuditDraft } from '../../kernel/audit/audit-draft';
import { auditDraftOf } from './audited-request';

/** A response waits this long for its row. After that, the row is still written, or fails by the timeouts of the database. */
const WRITE_TIMEOUT_MS = 2_000;
const MAX_UNFINISHED = 100;

/**
 * Writes audit rows that no transaction writes: those of refusals, failures, and successes without a change. A row is written
 * before the response is sent, so that a client that has the response finds the row. A row that cannot be written is logged
 * instead, and the response is sent unchanged.
 */
@Injectable()
export class AuditTrail {
  private unfinished = 0;

  constructor(
    private readonly dataSource: DataSource,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Writes the row of a request that ends in an error. */
  async recordRefusal(request: AuthenticatedRequest, status: number, errorCode: string): Promise<void> {
    const draft = auditDraftOf(request);
    if (!draft || !isWorthARow(draft, status, request.fault)) return;
    const outcome = status >= 500 ? 'failed' : 'refused';
    await this.write(draft, (tx) => appendAuditEvent(tx, draft, { outcome, status, errorCode }));
  }

  /** Writes the row of a success, unless a transaction has written it or nobody is signed in yet. */
  async recordSuccess(draft: AuditDraft, response: unknown): Promise<void> {
    if (draft.isRecorded || draft.sessionId === null) return;
    draft.isRecorded = true;
    await this.write(draft, (tx) => appendSuccess(tx, draft, response));
  }

  private async write(draft: AuditDraft, append: (db: Db) => Promise<void>): Promise<void> {
    if (this.unfinished >= MAX_UNFINISHED) {
      this.logger.error({ audit: draft }, 'An audit event was dropped, because too many wait for the database');
      return;
    }
    this.unfinished += 1;
    let timer: NodeJS.Timeout | undefined;
    // MAX_UNFINISHED bounds the rows of all callers together, so they do not use the callers' shares.
    const written = runWithoutCaller(() => append(this.dataSource.manager))
      .catch((error: unknown) => this.logger.error({ err: error, audit: draft }, 'An audit event was not written'))
      .finally(() => {
        this.unfinished -= 1;
        clearTimeout(timer);
      });
    const deadline = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, WRITE_TIMEOUT_MS);
    });
    await Promise.race([written, deadline]);
  }
}

/**
 * True if a refusal belongs in the audit log. Clients without an account must not fill it: logins without a user name, and
 * attempts that were refused because of a limit or load, are only in the request log.
 */
function isWorthARow(draft: AuditDraft, status: number, fault: Fault | null | undefined): boolean {
  const isUnchecked = status === 429 || (status === 503 && fault === 'load');
  return draft.userId !== null || (draft.username !== null && !isUnchecked);
}
