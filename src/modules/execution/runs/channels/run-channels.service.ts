import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { CHANNEL_CHUNK_BYTES, type FramesResponse } from '../../../../../libs/contracts/agent-protocol';
import { decodeAnswer } from '../../../../../libs/contracts/call-message';
import {
  decodeRecords,
  encodeRecords,
  MAX_PAYLOAD_BYTES,
  MalformedRecords,
  type NumberedPayload,
} from '../../../../../libs/contracts/channel-records';
import { conflict, DomainError, invalid, notFound, tooMany } from '../../../../platform/kernel/errors/domain-error';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { Transactions } from '../../../../platform/kernel/persistence/transactions';
import { notifyAfterCommit } from '../../../../platform/kernel/notifications/after-commit';
import { waitForNotification } from '../../../../platform/kernel/notifications/long-polls';
import { runKindOf } from '../jobs/run-kinds';
import { RunsService } from '../jobs/runs.service';
import { type FramedRun, FrameConsumer } from './frame-consumer';
import { FrameNotifications } from './frame-notifications';
import { RequestNotifications } from './request-notifications';
import { RunChannelsRepository } from './run-channels.repository';

/** Of requests that a node has not yet kept. */
const WAITING_REQUESTS = 10_000;
const WAITING_BYTES = 64 * 1024 * 1024;
/** Of requests that a node has kept, what may stay until it has time. */
const KEPT_REQUESTS = 100;
const KEPT_REQUEST_BYTES = 8 * 1024 * 1024;
/** Frames of a run that are kept: at most the first figure, and then at least the second. */
const KEPT_BYTES = 64 * 1024 * 1024;
const KEPT_AFTER_DROP = 48 * 1024 * 1024;
const FRAMES_AT_ONCE_BYTES = 1024 * 1024;

/** Frames of a run behind a number. */
export interface FramesBehind {
  /** The oldest first. */
  frames: NumberedPayload[];
  /** Whether frames behind the number are no longer kept. */
  lost: boolean;
  /** Number of the last frame that the run has said. */
  last: number;
}

/** The run that frames come from, as read before it is locked. */
export interface RunOfNode extends Pick<FramedRun, 'run_id' | 'tenant_id'> {
  job_type: string;
}

/**
 * The way to the process of a run and back. Requests are kept until the run's node has them, frames as long as there is room
 * for them, so that whoever dies meanwhile goes on where it was. See ADR 0033.
 */
@Injectable()
export class RunChannelsService implements OnModuleInit {
  private consumers: ReadonlyMap<string, FrameConsumer<unknown>> = new Map();

  constructor(
    private readonly repository: RunChannelsRepository,
    private readonly transactions: Transactions,
    private readonly runs: RunsService,
    private readonly polls: RequestNotifications,
    private readonly wakeUps: FrameNotifications,
    private readonly discovery: DiscoveryService,
  ) {}

  /** Throws when two consume the frames of one type. */
  onModuleInit(): void {
    const found = this.discovery
      .getProviders()
      .map(({ instance }): unknown => instance)
      .filter((instance) => instance instanceof FrameConsumer);
    this.consumers = new Map(found.map((consumer) => [consumer.jobType, consumer]));
    if (this.consumers.size < found.length) throw new Error('Two providers consume the frames of one job type');
  }

  /**
   * Sends a payload to the process of the run when `tx` commits; its number, which counts from 1 within the run. 413 when it
   * is longer than {@link MAX_PAYLOAD_BYTES}, 429 when too much waits for the node already.
   */
  async send(tx: Tx, run: Pick<FramedRun, 'run_id' | 'tenant_id'>, payload: Buffer): Promise<number> {
    if (payload.length > MAX_PAYLOAD_BYTES) {
      const message = `A message to a job may have ${MAX_PAYLOAD_BYTES} bytes; this one has ${payload.length}.`;
      throw new DomainError('too-large', 'CHANNEL.TOO_LARGE', message);
    }
    const { number, waiting, waiting_bytes: bytes } = await this.repository.addRequest(tx, run, payload);
    // An only one may be as long as it is.
    if (waiting > WAITING_REQUESTS || (bytes > WAITING_BYTES && waiting > 1)) {
      throw tooMany('CHANNEL.FULL', `Too many messages are waiting for the job ${run.run_id}. Try again later.`);
    }
    await notifyAfterCommit(tx, 'run_requests', String(run.run_id));
    return number;
  }

  /** Frames of the run behind a number, at most about `maxBytes`; an empty list when there are none. */
  async frames(runId: number, after: number, maxBytes = FRAMES_AT_ONCE_BYTES): Promise<FramesBehind> {
    const { frames, log } = await this.repository.frames(runId, after, maxBytes);
    return { frames, lost: after < log.dropped, last: log.last };
  }

  /** Frames of the run from one number to another; null unless all of them are kept, with no more than so many bytes about them. */
  async framesBetween(
    runId: number,
    { first, last }: { first: number; last: number },
    maxBytes: number,
  ): Promise<NumberedPayload[] | null> {
    const frames = await this.repository.framesBetween(runId, { first, last }, maxBytes);
    return frames.length === last - first + 1 ? frames : null;
  }

  /** Calls `listener` when the run may have new frames, perhaps without cause; the returned function ends that. */
  onFrames(runId: number, listener: () => void): () => void {
    return this.wakeUps.on(runId, listener);
  }

  /**
   * Requests behind a number, as records, for the node of the run; waits for one.
   * @param gone returns a promise that resolves when nobody waits for the answer any longer
   */
  async requestsForNode(
    runId: number,
    { after, wait_ms: waitMs }: { after: number; wait_ms: number },
    gone: () => Promise<unknown>,
  ): Promise<Buffer> {
    // Subscribed before the requests are read: one that comes between the two is seen either way.
    const { woken, cancel } = this.polls.subscribe(runId);
    try {
      const found = await this.requestsBehind(runId, after);
      if (found) return found;
      await waitForNotification(woken, waitMs, gone());
    } finally {
      cancel();
    }
    const found = await this.requestsBehind(runId, after);
    if (found) return found;
    const queue = await this.repository.unacknowledged(runId);
    if (queue && after > queue.acknowledged) await this.acknowledge(runId, after);
    return Buffer.alloc(0);
  }

  /** Records of requests; null when there are none. What the node has kept is forgotten now and then. */
  private async requestsBehind(runId: number, after: number): Promise<Buffer | null> {
    const { requests, queue } = await this.repository.requests(runId, after, CHANNEL_CHUNK_BYTES);
    if (!queue) return null;
    const isMuch = after - queue.acknowledged > KEPT_REQUESTS || queue.waiting_bytes > KEPT_REQUEST_BYTES;
    // A transaction for each request would make those that ask wait.
    if (isMuch && after > queue.acknowledged) await this.acknowledge(runId, after);
    return encodeRecords(requests);
  }

  private acknowledge(runId: number, after: number): Promise<void> {
    return this.transactions.run((tx) => this.repository.acknowledge(tx, runId, after));
  }

  /** Takes in records that the node of the run has sent: those that follow what is there. */
  async framesFromNode({ run_id: runId, tenant_id, job_type }: RunOfNode, body: Buffer): Promise<FramesResponse> {
    const records = decoded(body);
    const consumer = this.consumers.get(job_type);
    const read = (await consumer?.read(tenant_id, records)) ?? [];
    return this.transactions.run(async (tx) => {
      const run = await this.repository.lockRun(tx, runId);
      if (!run || !runKindOf(run.job_type).isInteractive) {
        throw notFound('CHANNEL.NOT_FOUND', `The job ${runId} accepts no frames.`);
      }
      if (run.has_ended) throw conflict('CHANNEL.ENDED', `The job ${runId} has ended.`);
      const log = await this.repository.lockFrames(tx, run);
      const next = log.last + 1;
      const first = records.findIndex(({ number }) => number === next);
      if (first === -1) return { next };
      const frames = records.slice(first);
      const grown = await this.repository.addFrames(tx, log, frames);
      if (grown.kept_bytes > KEPT_BYTES) await this.repository.dropFrames(tx, grown, KEPT_AFTER_DROP);
      const { service } = runKindOf(run.job_type);
      if (service && frames.some(isReady)) await this.runs.ready(tx, runId, service.ready);
      await consumer?.consume(tx, run, read.slice(first));
      await notifyAfterCommit(tx, 'run_frames', String(runId));
      return { next: grown.last + 1 };
    });
  }
}

function decoded(body: Buffer): NumberedPayload[] {
  try {
    return decodeRecords(body);
  } catch (error) {
    if (error instanceof MalformedRecords) throw invalid('CHANNEL.MALFORMED', error.message);
    throw error;
  }
}

/** Whether a frame says that its run can be called. */
function isReady({ payload }: NumberedPayload): boolean {
  return decodeAnswer(payload)?.header.op === 'ready';
}
