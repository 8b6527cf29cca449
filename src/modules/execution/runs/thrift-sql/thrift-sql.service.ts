import { Injectable } from '@nestjs/common';
import { singleLine } from '../../../../../libs/contracts/single-line';
import type { WorkspaceScope } from '../../../../platform/kernel/auth/principal';
import { DomainError, invalid, overloaded } from '../../../../platform/kernel/errors/domain-error';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { SQL_SERVER } from '../jobs/run-kinds';
import { RunsService } from '../jobs/runs.service';
import { RunCallsService } from '../channels/run-calls.service';
import { FinalAnswers, type SqlCaller } from './final-answers';
import { parseRepeated, type RepeatedCall } from './hive-message';
import { ResultPrefetchService } from './result-prefetch.service';

/** Maximum length of a client's message. */
export const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;
/** Long, because a client may wait for a statement within one request. */
const TIMEOUT_MS = 3_600_000;
const MAX_TEXT_LENGTH = 1_000;

/** Passes the messages of HiveServer2 clients to SQL servers. */
@Injectable()
export class ThriftSqlService {
  private readonly finalAnswers = new FinalAnswers();

  constructor(
    private readonly runs: RunsService,
    private readonly calls: RunCallsService,
    private readonly prefetch: ResultPrefetchService,
  ) {}

  /**
   * Passes a Thrift message to the SQL server on behalf of the caller, or returns the answer that is known already. Throws a 409
   * if the run is not RUNNING, and an error if the answer is lost, because a message is never sent twice.
   */
  async call(
    scope: WorkspaceScope,
    jobId: number,
    { message, signal }: { message: Buffer; signal: AbortSignal },
  ): Promise<Buffer> {
    const user = scope.username;
    const caller = { tenantId: scope.tenantId, workspaceId: scope.workspace.workspaceId, jobId, username: user };
    const repeated = parseRepeated(message, user);
    const final = this.finalAnswer(caller, repeated);
    if (final) return final;
    const run = await this.runs.callable({ ...scope, kind: SQL_SERVER }, jobId);
    const fetch = repeated?.name === 'FetchResults' ? repeated : null;
    const prefetched = fetch && (await this.prefetch.claim(run, fetch));
    if (prefetched) return prefetched;
    const answer = await this.calls.call(run, message, {
      timeoutMs: TIMEOUT_MS,
      signal,
      user,
      ...(fetch && { beforeSend: (tx: Tx) => this.prefetch.acknowledgeClaims(tx, run) }),
    });
    await this.prefetch.assertNotClaimed(run, answer);
    if (repeated) this.finalAnswers.add(caller, repeated, answer);
    switch (answer.outcome) {
      case 'ok':
        return answer.body;
      case 'error':
        throw invalid('THRIFT.REFUSED', singleLine(answer.body.toString('utf8', 0, MAX_TEXT_LENGTH)));
      case 'full':
        throw overloaded('THRIFT.FULL', 'Too many messages are already waiting for the job. Try again later.');
      case 'timeout':
      case 'unanswerable':
        throw new DomainError(
          'upstream',
          'THRIFT.UNANSWERABLE',
          'The SQL server could not answer the message. The stderr log of the job says why.',
        );
    }
  }

  /** Any message that is not repeated may close an operation. */
  private finalAnswer(caller: SqlCaller, repeated: RepeatedCall | null): Buffer | null {
    if (repeated) return this.finalAnswers.find(caller, repeated);
    this.finalAnswers.forget(caller);
    return null;
  }
}
