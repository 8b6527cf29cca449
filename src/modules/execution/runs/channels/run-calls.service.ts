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
import { answerTooLong, joinParts, MAX_RESPONSE_BYTES } from './answer-body';
import type { FramedRun } from './frame-consumer';
import { RunChannelsRepository } from './run-channels.repository';
import { RunChannelsService } from './run-channels.service';

/** Pending calls to one run in this process. */
const MAX_CALLS_PER_RUN = 1_000;
/** Interval of polling for runs that have ended. */
const POLL_INTERVAL_MS = 1_000;
const MAX_RUNS_PER_QUERY = 1_000;
/** Time for the call to reach the run and for the answer to come back, in addition to the timeout that the run applies. */
const DELIVERY_ALLOWANCE_MS = 10_000;
const RETRY_DELAY_MS = 500;

export interface CallAnswer {
  id: string;
  outcome: CallOutcome;
  body: Buffer;
  /** Id of the prefetched answer that this answer replaces. */
  insteadOf?: string;
  /** True if the run says that the request would get the same answer again. */
  isFinal: boolean;
}

export interface CallOptions {
  timeoutMs: number;
  /** Cancels the call; aborted when the caller disconnects. */
  signal: AbortSignal;
  /** Name of the caller, for runs that distinguish their callers. */
  user?: string;
  /** Runs in the transaction that sends the call; enqueues what the run must receive before it. */
  beforeSend?: (tx: Tx) => Promise<void>;
}

/** An answer whose parts are not joined yet. */
interface RawAnswer {
  readonly header: PartHeader;
  readonly parts: readonly Buffer[];
}

interface PendingCall {
  readonly parts: Buffer[];
  bytes: number;
  resolve: (answer: RawAnswer) => void;
  reject: (error: Error) => void;
}

/** The pending calls to one run. Its frames are read once for all of them. */
interface Subscription {
  readonly run: CalledRun;
  readonly pending: Map<string, PendingCall>;
  /** Number of the last frame that was read; pending until the current end of the log is known. */
  lastRead: Promise<number>;
  readonly reader: Pump;
  readonly unsubscribe: () => void;
}

type PartHeader = Extract<AnswerHeader, { op: 'answer' }>;

export type CalledRun = Pick<FramedRun, 'run_id' | 'tenant_id'>;

/**
 * Calls the processes of runs. A call is sent at most once: a caller whose answer is lost, because the process of the API or of
 * the run ended, cannot know whether the call was executed.
 */
@Injectable()
export class RunCallsService implements OnModuleInit, OnModuleDestroy {
  private readonly subscriptions = new Map<number, Subscription>();
  /** Each call holds a stream slot. One tenant may hold half of them, so that the others can always call. */
  private readonly slots: KeyedSlots;
  private readonly maxCallsPerTenant: number;
  private readonly endedRunsPoll = new Pump(() => this.rejectCallsToEndedRuns(), {
    intervalMs: POLL_INTERVAL_MS,
    failed: (error) =>
      this.logger.warn({ err: error }, 'Could not poll for ended jobs; calls to them wait until the next poll'),
  });

  constructor(
    private readonly channels: RunChannelsService,
    private readonly repository: RunChannelsRepository,
    private readonly transactions: Transactions,
    @Inject(LOGGER) private readonly logger: Logger,
    { http }: Config,
  ) {
    this.maxCallsPerTenant = Math.ceil(http.maxStreams / 2);
    this.slots = new KeyedSlots({ all: http.maxStreams, perKey: this.maxCallsPerTenant });
  }

  onModuleInit(): void {
    this.endedRunsPoll.wake();
  }

  onModuleDestroy(): void {
    void this.endedRunsPoll.stop();
  }

  async call(run: CalledRun, body: Buffer, { timeoutMs, signal, user, beforeSend }: CallOptions): Promise<CallAnswer> {
    const release = this.acquireSlot(run);
    const subscription = this.subscribe(run);
    const id = randomUUID();
    try {
      const answered = this.awaitAnswer(subscription, id, timeoutMs + DELIVERY_ALLOWANCE_MS, signal);
      // The answer comes after the current end of the log, so that must be known before the call is sent.
      await subscription.lastRead;
      const header = { op: 'call', id, timeout_ms: timeoutMs, ...(user !== undefined && { user }) } as const;
      const sent = this.send(run, id, encodeCall(header, body), beforeSend);
      await Promise.race([sent, answered.then(() => undefined)]);
      return await toCallAnswer(await answered);
    } catch (error) {
      if (signal.aborted || isTimeout(error)) this.cancel(run, id);
      throw error;
    } finally {
      release();
      subscription.pending.delete(id);
      if (subscription.pending.size === 0) this.unsubscribe(subscription);
    }
  }

  /** Returns a function that releases the slot. Throws a 429 that names the exhausted limit: job, tenant or server. */
  private acquireSlot({ run_id: runId, tenant_id: tenantId }: CalledRun): () => void {
    const tooManyCalls = (of: string) =>
      tooMany('CALL.TOO_MANY', `Too many calls ${of} are already waiting for answers. Try again later.`);
    if ((this.subscriptions.get(runId)?.pending.size ?? 0) >= MAX_CALLS_PER_RUN) {
      throw tooManyCalls(`to the job ${runId} (at most ${MAX_CALLS_PER_RUN})`);
    }
    const slot = this.slots.take(tenantId);
    if (slot === 'perKey') throw tooManyCalls(`of your tenant (at most ${this.maxCallsPerTenant})`);
    if (slot === 'all') throw tooManyCalls('of all tenants on this server');
    return slot;
  }

  /** Throws a 409 if a request with the same `Idempotency-Key` has sent a call before: the transaction returns that call's id. */
  private async send(
    run: CalledRun,
    id: string,
    payload: Buffer,
    beforeSend: CallOptions['beforeSend'],
  ): Promise<void> {
    const sent = await this.transactions.run(async (tx) => {
      await beforeSend?.(tx);
      await this.channels.send(tx, run, payload);
      return { call_id: id };
    });
    if (sent.call_id === id) return;
    throw conflict(
      'CALL.REPEATED',
      'A call with this Idempotency-Key was sent before, and its answer was not kept. To call again, use another key.',
    );
  }

  private subscribe(run: CalledRun): Subscription {
    const known = this.subscriptions.get(run.run_id);
    if (known) return known;
    const reader = new Pump(() => this.readAnswers(subscription), {
      failed: (error) => {
        this.logger.warn(
          { err: error, run_id: run.run_id },
          'Could not read the answers of a job to its callers; reading again',
        );
        reader.wake(RETRY_DELAY_MS);
      },
    });
    const subscription: Subscription = {
      run,
      pending: new Map(),
      // Every caller of the run shares this read, so one caller's context must not apply to it.
      lastRead: runWithoutCaller(() => this.channels.frames(run.run_id, Number.MAX_SAFE_INTEGER)).then(
        ({ last }) => last,
      ),
      reader,
      unsubscribe: this.channels.subscribeToFrames(run.run_id, () => reader.wake()),
    };
    // Callers that await it get the error.
    subscription.lastRead.catch(() => undefined);
    this.subscriptions.set(run.run_id, subscription);
    return subscription;
  }

  private unsubscribe(subscription: Subscription): void {
    subscription.unsubscribe();
    void subscription.reader.stop();
    if (this.subscriptions.get(subscription.run.run_id) === subscription)
      this.subscriptions.delete(subscription.run.run_id);
  }

  private awaitAnswer(subscription: Subscription, id: string, ms: number, signal: AbortSignal): Promise<RawAnswer> {
    const answered = new Promise<RawAnswer>((resolve, reject) => {
      const call: PendingCall = {
        parts: [],
        bytes: 0,
        resolve: (answer) => {
          cleanUp();
          resolve(answer);
        },
        reject: (error) => {
          cleanUp();
          reject(error);
        },
      };
      const onTimeout = () => call.reject(new DomainError('late', 'CALL.TIMEOUT', 'The job did not answer in time.'));
      const onAbort = () => call.reject(new DomainError('timeout', 'CALL.GONE', 'The caller has gone away.'));
      const timer = setTimeout(onTimeout, ms);
      const cleanUp = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
      };
      signal.addEventListener('abort', onAbort);
      subscription.pending.set(id, call);
      if (signal.aborted) onAbort();
    });
    answered.catch(() => undefined);
    return answered;
  }

  private async readAnswers(subscription: Subscription): Promise<boolean> {
    const { frames, lost } = await this.channels.frames(subscription.run.run_id, await subscription.lastRead);
    if (lost) this.rejectAll(subscription, answerLost());
    const last = frames.at(-1);
    if (!last) return false;
    subscription.lastRead = Promise.resolve(last.number);
    for (const { payload } of frames) {
      const answer = decodeAnswer(payload);
      if (answer?.header.op !== 'answer') continue;
      addPart(subscription, answer.header, answer.body);
    }
    return true;
  }

  private rejectAll({ pending }: Subscription, error: Error): void {
    for (const call of pending.values()) call.reject(error);
  }

  /** Reads the last frames of ended runs first, so that an answer which was sent in time still arrives. */
  private async rejectCallsToEndedRuns(): Promise<void> {
    const ids = [...this.subscriptions.keys()];
    for (let at = 0; at < ids.length; at += MAX_RUNS_PER_QUERY) {
      for (const id of await this.repository.endedRuns(ids.slice(at, at + MAX_RUNS_PER_QUERY))) {
        const subscription = this.subscriptions.get(id);
        if (!subscription) continue;
        await subscription.reader.run();
        this.rejectAll(
          subscription,
          conflict('CALL.ENDED', `The job ${id} ended before it answered. The "reason" of the job says why.`),
        );
      }
    }
  }

  private cancel(run: CalledRun, id: string): void {
    // Outside the context of the request: its Idempotency-Key belongs to the call.
    runAsCaller(() =>
      this.transactions.run((tx) => this.channels.send(tx, run, encodeCall({ op: 'cancel', id }))),
    ).catch((error: unknown) =>
      this.logger.debug({ err: error, run_id: run.run_id }, 'Could not cancel a call; the job may still execute it'),
    );
  }
}

/** Adds a part to the answer of a pending call, and resolves the call when it was the last part. */
function addPart({ pending }: Subscription, header: PartHeader, body: Buffer): void {
  const call = pending.get(header.id);
  if (!call) return;
  call.bytes += body.length;
  // A copy: the original shares its memory with all frames that were read together.
  call.parts.push(Buffer.from(body));
  if (header.more && call.bytes <= MAX_RESPONSE_BYTES) return;
  pending.delete(header.id);
  if (call.bytes <= MAX_RESPONSE_BYTES) call.resolve({ header, parts: call.parts });
  else call.reject(answerTooLong());
}

async function toCallAnswer({ header, parts }: RawAnswer): Promise<CallAnswer> {
  const { id, outcome, deflated = false, instead_of: insteadOf, final: isFinal = false } = header;
  const body = await joinParts(parts, deflated);
  return { id, outcome, body, isFinal, ...(insteadOf !== undefined && { insteadOf }) };
}

function isTimeout(error: unknown): boolean {
  return error instanceof DomainError && error.kind === 'late';
}

function answerLost(): DomainError {
  return new DomainError(
    'upstream',
    'CALL.ANSWER_LOST',
    'The answer of the job was lost. The call may have been executed; check before you repeat it.',
  );
}
