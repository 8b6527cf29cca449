import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { AuthenticatedRequest } from '../auth/request-principal';
import type { Fault } from '../../kernel/errors/error-response';
import { runWithoutCaller } from '../../kernel/context/request-context';
import { LOGGER, type Logger } from '../../kernel/logging/logger';
import type { Tx } from '../../kernel/persistence/sql';
import { appendAuditEvent, appendSuccess } from '../../kernel/audit/append-audit-event';
import type { AuditDraft } from '../../kernel/audit/audit-draft';
import { auditDraftOf } from './audited-request';

/**
 * How long an answer waits for its row; a row still on its way then arrives later, or fails by the database's own
 * limits.
 */
const WRITE_DEADLINE_MS = 2_000;
const MAX_UNFINISHED = 100;

/**
 * Rows of requests that no transaction carries: refusals, failures, and successes that changed no row. They are written
 * before the answer goes out, so that whoever has the answer finds the row; a row that cannot be written goes to the
 * log of the process instead, and the answer stays the same.
 */
@Injectable()
export class AuditTrail {
  private unfinished = 0;

  constructor(
    private readonly dataSource: DataSource,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** The row of a request that is answered with an error. */
  async recordRefusal(request: AuthenticatedRequest, status: number, errorCode: string): Promise<void> {
    const draft = auditDraftOf(request);
    if (!draft || !isWorthARow(draft, status, request.fault)) return;
    const outcome = status >= 500 ? 'failed' : 'refused';
    await this.write(draft, (tx) => appendAuditEvent(tx, draft, { outcome, status, errorCode }));
  }

  /** The row of a success, unless a transaction has written it or nobody is signed in yet. */
  async recordSuccess(draft: AuditDraft, answer: unknown): Promise<void> {
    if (draft.isRecorded || draft.sessionId === null) return;
    draft.isRecorded = true;
    await this.write(draft, (tx) => appendSuccess(tx, draft, answer));
  }

  private async write(draft: AuditDraft, append: (tx: Tx) => Promise<void>): Promise<void> {
    if (this.unfinished >= MAX_UNFINISHED) {
      this.logger.error({ audit: draft }, 'An audit event was dropped: too many wait for the database');
      return;
    }
    this.unfinished += 1;
    let timer: NodeJS.Timeout | undefined;
    // What may be unfinished is one number for all.
    const written = runWithoutCaller(() => append(this.dataSource.manager))
      .catch((error: unknown) => this.logger.error({ err: error, audit: draft }, 'An audit event was not written'))
      .finally(() => {
        this.unfinished -= 1;
        clearTimeout(timer);
      });
    const deadline = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, WRITE_DEADLINE_MS);
    });
    await Promise.race([written, deadline]);
  }
}

/**
 * Whoever has no account must not fill the log: a login without a user name, and attempts refused because of a limit or
 * load, are only in the request log.
 */
function isWorthARow(draft: AuditDraft, status: number, fault: Fault | null | undefined): boolean {
  const nobodyLooked = status === 429 || (status === 503 && fault === 'load');
  return draft.userId !== null || (draft.username !== null && !nobodyLooked);
}
