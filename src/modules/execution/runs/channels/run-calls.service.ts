import { randomUUID } from 'node:crypto';
import { Inject, Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import {
  type AnswerHeader,
  type CallOutcome,
  decodeAnswer,
  encodeCall,
} from '../../../../../libs/contracts/call-message';
import { Config } from '../../../../config/config';
import { runAsCaller, runWithoutCaller } from '../../../../platform/kernel/context/request-context';
import { conflict, DomainError, tooMany } from '../../../../platform/kernel/errors/domain-error';
import { KeyedSlots } from '../../../../platform/http/connections/keyed-slots';
import { LOGGER, type Logger } from '../../../../platform/kernel/logging/logger';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { Transactions } from '../../../../platform/kernel/persistence/transactions';
import { Pump } from '../../../../platform/kernel/process/pump';
import { bodyOfParts, MAX_RESPONSE_BYTES, tooLong } from './answer-body';
import type { FramedRun } from './frame-consumer';
import { RunChannelsRepository } from './run-channels.repository';
import { RunChannelsService } from './run-channels.service';

/** Calls that wait in this process for one run. */
const MAX_CALLS_OF_RUN = 1_000;
/** How often the process looks whether a run has ended. */
const LOOK_MS = 1_000;
/** Runs that one statement looks at. */
const RUNS_AT_ONCE = 1_000;
/** How long an answer may take beyond the time that the run has for it. */
const ON_THE_WAY_MS = 10_000;
/** How long after a failure answers are read again. */
const READ_AGAIN_MS = 500;

export interface CallAnswer {
  id: string;
  outcome: CallOutcome;
  body: Buffer;
  /** The answer that had come ahead with this id. */
  insteadOf?: string;
}

export interface CallOptions {
  timeoutMs: number;
  /** Ends the call for a caller who has gone away. */
  signal: AbortSignal;
  /** Name of the caller, for runs that tell their callers apart. */
  user?: string;
  /** What the run must be told before it gets the call. */
  before?: (tx: Tx) => Promise<void>;
}

/** An answer as it came. */
interface Answered {
  readonly header: PartHeader;
  readonly parts: readonly Buffer[];
}

interface Waiting {
  /** What has come of the answer. */
  readonly parts: Buffer[];
  bytes: number;
  resolve: (answer: Answered) => void;
  reject: (error: Error) => void;
}

/** Whoever waits for answers of one run, which are read once for all of them. */
interface Followed {
  readonly run: CalledRun;
  readonly waiting: Map<string, Waiting>;
  /** Number of the last frame that was read; null until it is known where to begin. */
  after: Promise<number>;
  readonly reads: Pump;
  readonly unsubscribe: () => void;
}

type PartHeader = Extract<AnswerHeader, { op: 'answer' }>;

export type CalledRun = Pick<FramedRun, 'run_id' | 'tenant_id'>;

/**
 * Calls to the processes of runs. A call is sent once and never again: whoever does not get its answer, since the process of
 * the API or of the run ended meanwhile, does not know whether it was carried out.
 */
@Injectable()
export class RunCallsService implements OnModuleInit, OnModuleDestroy {
  private readonly followed = new Map<number, Followed>();
  /** Calls are streams, which bounds those of a caller; half of all are left to other tenants. */
  private readonly slots: KeyedSlots;
  private readonly maxOfTenant: number;
  private readonly looks = new Pump(() => this.look(), {
    intervalMs: LOOK_MS,
    failed: (error) => this.logger.warn({ err: error }, 'Ended jobs could not be looked up; trying again later'),
  });

  constructor(
    private readonly channels: RunChannelsService,
    private readonly repository: RunChannelsRepository,
    private readonly transactions: Transactions,
    @Inject(LOGGER) private readonly logger: Logger,
    { http }: Config,
  ) {
    this.maxOfTenant = Math.ceil(http.maxStreams / 2);
    this.slots = new KeyedSlots({ all: http.maxStreams, ofKey: this.maxOfTenant });
  }

  onModuleInit(): void {
    this.looks.wake();
  }

  onModuleDestroy(): void {
    void this.looks.stop();
  }

  /** Calls the process of a run and waits for its answer. */
  async call(run: CalledRun, body: Buffer, { timeoutMs, signal, user, before }: CallOptions): Promise<CallAnswer> {
    const release = this.slotFor(run);
    const followed = this.follow(run);
    const id = randomUUID();
    try {
      const answered = this.wait(followed, id, timeoutMs + ON_THE_WAY_MS, signal);
      // What is said from now on counts, so where that begins must be known before.
      await followed.after;
      const header = { op: 'call', id, timeout_ms: timeoutMs, ...(user !== undefined && { user }) } as const;
      const sent = this.send(run, id, encodeCall(header, body), before);
      await Promise.race([sent, answered.then(() => undefined)]);
      return await given(await answered);
    } catch (error) {
      if (signal.aborted || isLate(error)) this.cancel(run, id);
      throw error;
    } finally {
      release();
      followed.waiting.delete(id);
      if (followed.waiting.size === 0) this.forget(followed);
    }
  }

  /** Gives the slot back when called. Throws a 429 that says of whom too many calls wait. */
  private slotFor({ run_id: runId, tenant_id: tenantId }: CalledRun): () => void {
    const full = (of: string) =>
      tooMany('CALL.TOO_MANY', `Too many calls ${of} are already waiting for answers. Try again later.`);
    if ((this.followed.get(runId)?.waiting.size ?? 0) >= MAX_CALLS_OF_RUN) {
      throw full(`to the job ${runId} (at most ${MAX_CALLS_OF_RUN})`);
    }
    const slot = this.slots.take(tenantId);
    if (slot === 'ofKey') throw full(`of your tenant (at most ${this.maxOfTenant})`);
    if (slot === 'all') throw full('of all tenants on this server');
    return slot;
  }

  /** A request with an `Idempotency-Key` that was used before gets the id of the call that was sent then. */
  private async send(run: CalledRun, id: string, payload: Buffer, before: CallOptions['before']): Promise<void> {
    const sent = await this.transactions.run(async (tx) => {
      await before?.(tx);
      await this.channels.send(tx, run, payload);
      return { call_id: id };
    });
    if (sent.call_id === id) return;
    throw conflict(
      'CALL.REPEATED',
      'A call with this Idempotency-Key was sent before, and its answer was not kept. To call again, use another key.',
    );
  }

  private follow(run: CalledRun): Followed {
    const known = this.followed.get(run.run_id);
    if (known) return known;
    const reads = new Pump(() => this.readSome(followed), {
      failed: (error) => {
        this.logger.warn({ err: error, run_id: run.run_id }, 'Answers of a job are read again later');
        reads.wake(READ_AGAIN_MS);
      },
    });
    const followed: Followed = {
      run,
      waiting: new Map(),
      // For all who call the run while it is followed.
      after: runWithoutCaller(() => this.channels.frames(run.run_id, Number.MAX_SAFE_INTEGER)).then(({ last }) => last),
      reads,
      unsubscribe: this.channels.onFrames(run.run_id, () => reads.wake()),
    };
    // Whoever waits for it gets the error.
    followed.after.catch(() => undefined);
    this.followed.set(run.run_id, followed);
    return followed;
  }

  private forget(followed: Followed): void {
    followed.unsubscribe();
    void followed.reads.stop();
    if (this.followed.get(followed.run.run_id) === followed) this.followed.delete(followed.run.run_id);
  }

  private wait(followed: Followed, id: string, ms: number, signal: AbortSignal): Promise<Answered> {
    const answered = new Promise<Answered>((resolve, reject) => {
      const waiting: Waiting = {
        parts: [],
        bytes: 0,
        resolve: (answer) => {
          over();
          resolve(answer);
        },
        reject: (error) => {
          over();
          reject(error);
        },
      };
      const late = () => waiting.reject(new DomainError('late', 'CALL.TIMEOUT', 'The job did not answer in time.'));
      const gone = () => waiting.reject(new DomainError('timeout', 'CALL.GONE', 'The caller has gone away.'));
      const timer = setTimeout(late, ms);
      const over = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', gone);
      };
      signal.addEventListener('abort', gone);
      followed.waiting.set(id, waiting);
      if (signal.aborted) gone();
    });
    answered.catch(() => undefined);
    return answered;
  }

  /** Whether there may be more. */
  private async readSome(followed: Followed): Promise<boolean> {
    const { frames, lost } = await this.channels.frames(followed.run.run_id, await followed.after);
    if (lost) this.fail(followed, lostAnswer());
    const last = frames.at(-1);
    if (!last) return false;
    followed.after = Promise.resolve(last.number);
    for (const { payload } of frames) {
      const answer = decodeAnswer(payload);
      if (answer?.header.op !== 'answer') continue;
      take(followed, answer.header, answer.body);
    }
    return true;
  }

  private fail({ waiting }: Followed, error: Error): void {
    for (const one of waiting.values()) one.reject(error);
  }

  /** Ends the calls to runs that have ended, once what they said last was read. */
  private async look(): Promise<void> {
    const ids = [...this.followed.keys()];
    for (let at = 0; at < ids.length; at += RUNS_AT_ONCE) {
      for (const id of await this.repository.ended(ids.slice(at, at + RUNS_AT_ONCE))) {
        const followed = this.followed.get(id);
        if (!followed) continue;
        await followed.reads.run();
        this.fail(followed, conflict('CALL.ENDED', `The job ${id} ended before it answered; its reason says why.`));
      }
    }
  }

  private cancel(run: CalledRun, id: string): void {
    // Not in the name of the request, whose Idempotency-Key stands for the call.
    runAsCaller(() =>
      this.transactions.run((tx) => this.channels.send(tx, run, encodeCall({ op: 'cancel', id }))),
    ).catch((error: unknown) => this.logger.debug({ err: error, run_id: run.run_id }, 'A call was not cancelled'));
  }
}

/** Adds what came to the answer of whoever waits for it here. */
function take({ waiting }: Followed, header: PartHeader, body: Buffer): void {
  const one = waiting.get(header.id);
  if (!one) return;
  one.bytes += body.length;
  // The memory is that of all frames that were read with it.
  one.parts.push(Buffer.from(body));
  if (header.more && one.bytes <= MAX_RESPONSE_BYTES) return;
  waiting.delete(header.id);
  if (one.bytes <= MAX_RESPONSE_BYTES) one.resolve({ header, parts: one.parts });
  else one.reject(tooLong());
}

async function given({ header, parts }: Answered): Promise<CallAnswer> {
  const { id, outcome, deflated = false, instead_of: insteadOf } = header;
  return { id, outcome, body: await bodyOfParts(parts, deflated), ...(insteadOf !== undefined && { insteadOf }) };
}

function isLate(error: unknown): boolean {
  return error instanceof DomainError && error.kind === 'late';
}

function lostAnswer(): DomainError {
  return new DomainError('upstream', 'CALL.ANSWER_LOST', 'The answer was lost; the call may have been carried out.');
}
