import { Injectable } from '@nestjs/common';
import { toldLine } from '../../../../../libs/contracts/told-line';
import type { WorkspaceScope } from '../../../../platform/kernel/auth/principal';
import { DomainError, invalid, overloaded } from '../../../../platform/kernel/errors/domain-error';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { SQL_SERVER } from '../jobs/run-kinds';
import { RunsService } from '../jobs/runs.service';
import { RunCallsService } from '../channels/run-calls.service';
import { fetchIn } from './hive-message';
import { ResultPrefetchService } from './result-prefetch.service';

/** Longest message of a client; bytes. */
export const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;
/** A client may let a statement run within one request. */
const TIMEOUT_MS = 3_600_000;
const MAX_TEXT_LENGTH = 1_000;

/** The messages of HiveServer2's clients to jobs that serve SQL. */
@Injectable()
export class ThriftSqlService {
  constructor(
    private readonly runs: RunsService,
    private readonly calls: RunCallsService,
    private readonly ahead: ResultPrefetchService,
  ) {}

  /**
   * Passes a Thrift message to the server of a run, in the name of the caller, unless its answer has come ahead. 409 unless it
   * runs; an error when the answer is lost, since a message is never sent again.
   */
  async call(
    scope: WorkspaceScope,
    jobId: number,
    { message, signal }: { message: Buffer; signal: AbortSignal },
  ): Promise<Buffer> {
    const run = await this.runs.callable({ ...scope, kind: SQL_SERVER }, jobId);
    const user = scope.username;
    const fetch = fetchIn(message, user);
    const ahead = fetch && (await this.ahead.claim(run, fetch));
    if (ahead) return ahead;
    const answer = await this.calls.call(run, message, {
      timeoutMs: TIMEOUT_MS,
      signal,
      user,
      ...(fetch && { before: (tx: Tx) => this.ahead.settle(tx, run) }),
    });
    await this.ahead.assertOwn(run, answer);
    switch (answer.outcome) {
      case 'ok':
        return answer.body;
      case 'error':
        throw invalid('THRIFT.REFUSED', toldLine(answer.body.toString('utf8', 0, MAX_TEXT_LENGTH)));
      case 'full':
        throw overloaded('THRIFT.FULL', 'Too many messages are already waiting for the job. Try again later.');
      case 'timeout':
      case 'unanswerable':
        throw new DomainError('upstream', 'THRIFT.UNANSWERABLE', 'The job could not answer; its log says why.');
    }
  }
}
