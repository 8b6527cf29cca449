import { LRUCache } from 'lru-cache';
import type { CallAnswer } from '../channels/run-calls.service';
import { type RepeatedCall, writeSequence } from './hive-message';

const MAX_CALLERS = 1_000;
/** Operations of one caller whose rows are read at the same time. */
const MAX_PER_CALLER = 16;
/** The state of an operation is much shorter. */
const MAX_ANSWER_BYTES = 2_048;
/** Meanwhile the job may end, or another pod may close the operation. */
const KEPT_MS = 10_000;

/** A user of a job. */
export interface SqlCaller {
  tenantId: string;
  workspaceId: number;
  jobId: number;
  username: string;
}

/**
 * The states of operations that have finished. Some JDBC drivers, such as Hive 2.3.10 in Spark 4, ask for the state before they
 * read each row, which would cost a call of the job for each. See ADR 0038.
 */
export class FinalAnswers {
  private readonly byCaller: LRUCache<string, LRUCache<string, Buffer>>;

  /** @param now in milliseconds, for tests */
  constructor(private readonly now: () => number = () => performance.now()) {
    this.byCaller = new LRUCache({ max: MAX_CALLERS });
  }

  /** Returns a copy with the sequence number of the call; null if the job must be asked. */
  find(caller: SqlCaller, call: RepeatedCall): Buffer | null {
    const answer = this.byCaller.get(keyOf(caller))?.get(call.key);
    if (!answer) return null;
    const copy = Buffer.from(answer);
    writeSequence(copy, call);
    return copy;
  }

  add(caller: SqlCaller, { key }: RepeatedCall, { body, isFinal, outcome }: CallAnswer): void {
    if (!isFinal || outcome !== 'ok' || body.length > MAX_ANSWER_BYTES) return;
    const known = this.byCaller.get(keyOf(caller));
    const answers =
      known ?? new LRUCache({ max: MAX_PER_CALLER, ttl: KEPT_MS, ttlResolution: 0, perf: { now: this.now } });
    answers.set(key, Buffer.from(body));
    if (!known) this.byCaller.set(keyOf(caller), answers);
  }

  /** Forgets all answers for a caller. To be called before a message that may close an operation. */
  forget(caller: SqlCaller): void {
    this.byCaller.delete(keyOf(caller));
  }
}

function keyOf({ tenantId, workspaceId, jobId, username }: SqlCaller): string {
  return [tenantId, workspaceId, jobId, username].join(':');
}
