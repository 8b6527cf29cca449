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

/** Bounds of the requests to one run that its node has not stored yet. */
const MAX_QUEUED_REQUESTS = 10_000;
const MAX_QUEUED_BYTES = 64 * 1024 * 1024;
/** Stored requests are deleted in batches of at least this size, or when the node has nothing else to fetch. */
const ACKNOWLEDGE_AFTER_REQUESTS = 100;
const ACKNOWLEDGE_AFTER_BYTES = 8 * 1024 * 1024;
/** A frame log that exceeds the maximum is cut to the second figure, so that it is not cut for every frame. */
const MAX_FRAME_LOG_BYTES = 64 * 1024 * 1024;
const FRAME_LOG_BYTES_AFTER_DROP = 48 * 1024 * 1024;
const FRAME_PAGE_BYTES = 1024 * 1024;

/** Frames of a run after a number. */
export interface FramePage {
  frames: NumberedPayload[];
  /** True if some frames after the number are no longer kept. */
  lost: boolean;
  /** Number of the last frame of the run, which may be beyond this page. */
  last: number;
}

/** The run that sends frames, as read before its row is locked. */
export interface SendingRun extends Pick<FramedRun, 'run_id' | 'tenant_id'> {
  job_type: string;
}

/**
 * The channel to and from the process of a run. Requests are kept until the run's node has stored them, and frames as long as
 * they fit, so that an agent or a client that restarts resumes where it was. See ADR 0033.
 */
@Injectable()
export class RunChannelsService implements OnModuleInit {
  private consumers: ReadonlyMap<string, FrameConsumer<unknown>> = new Map();

  constructor(
    private readonly repository: RunChannelsRepository,
    private readonly transactions: Transactions,
    private readonly runs: RunsService,
    private readonly requestNotifications: RequestNotifications,
    private readonly frameNotifications: FrameNotifications,
    private readonly discovery: DiscoveryService,
  ) {}

  /** Throws if two providers consume the frames of one job type. */
  onModuleInit(): void {
    const found = this.discovery
      .getProviders()
      .map(({ instance }): unknown => instance)
      .filter((instance) => instance instanceof FrameConsumer);
    this.consumers = new Map(found.map((consumer) => [consumer.jobType, consumer]));
    if (this.consumers.size < found.length) throw new Error('Two providers consume the frames of one job type');
  }

  /**
   * Sends a payload to the process of the run when `tx` commits. Returns its number, which counts from 1 within the run. Throws a
   * 413 if it is longer than {@link MAX_PAYLOAD_BYTES}, and a 429 if the queue of the run is full.
   */
  async send(tx: Tx, run: Pick<FramedRun, 'run_id' | 'tenant_id'>, payload: Buffer): Promise<number> {
    if (payload.length > MAX_PAYLOAD_BYTES) {
      const message = `A message to a job may have at most ${MAX_PAYLOAD_BYTES} bytes; this one has ${payload.length}.`;
      throw new DomainError('too-large', 'CHANNEL.TOO_LARGE', message);
    }
    const { number, waiting, waiting_bytes: bytes } = await this.repository.enqueueRequest(tx, run, payload);
    // A single request is always accepted, whatever its length.
    if (waiting > MAX_QUEUED_REQUESTS || (bytes > MAX_QUEUED_BYTES && waiting > 1)) {
      throw tooMany('CHANNEL.FULL', `Too many messages are waiting for the job ${run.run_id}. Try again later.`);
    }
    await notifyAfterCommit(tx, 'run_requests', String(run.run_id));
    return number;
  }

  /** Returns about `maxBytes` of the frames after a number. */
  async frames(runId: number, after: number, maxBytes = FRAME_PAGE_BYTES): Promise<FramePage> {
    const { frames, log } = await this.repository.frames(runId, after, maxBytes);
    return { frames, lost: after < log.dropped, last: log.last };
  }

  /** Returns the frames of an inclusive range; null if some are no longer kept, or if their batches exceed `maxBytes`. */
  async framesBetween(
    runId: number,
    { first, last }: { first: number; last: number },
    maxBytes: number,
  ): Promise<NumberedPayload[] | null> {
    const frames = await this.repository.framesBetween(runId, { first, last }, maxBytes);
    return frames.length === last - first + 1 ? frames : null;
  }

  /** Calls `listener` when the run may have new frames; it can be called without cause. Returns a function that unsubscribes. */
  subscribeToFrames(runId: number, listener: () => void): () => void {
    return this.frameNotifications.subscribe(runId, listener);
  }

  /**
   * Returns the requests after a number as records, and waits if there are none. The number acknowledges the requests up to it.
   * @param gone returns a promise that resolves when the agent has disconnected
   */
  async pollRequests(
    runId: number,
    { after, wait_ms: waitMs }: { after: number; wait_ms: number },
    gone: () => Promise<unknown>,
  ): Promise<Buffer> {
    // Subscribes before it reads, so that a request which is enqueued in between is not missed.
    const { notified, cancel } = this.requestNotifications.subscribe(runId);
    try {
      const found = await this.readRequests(runId, after);
      if (found) return found;
      await waitForNotification(notified, waitMs, gone());
    } finally {
      cancel();
    }
    const found = await this.readRequests(runId, after);
    if (found) return found;
    const queue = await this.repository.unacknowledged(runId);
    if (queue && after > queue.acknowledged) await this.acknowledge(runId, after);
    return Buffer.alloc(0);
  }

  /** Returns records; null if there are no requests. Acknowledges from time to time. */
  private async readRequests(runId: number, after: number): Promise<Buffer | null> {
    const { requests, queue } = await this.repository.requests(runId, after, CHANNEL_CHUNK_BYTES);
    if (!queue) return null;
    const isMuch =
      after - queue.acknowledged > ACKNOWLEDGE_AFTER_REQUESTS || queue.waiting_bytes > ACKNOWLEDGE_AFTER_BYTES;
    // Acknowledging locks the queue, so doing it for each request would delay the senders.
    if (isMuch && after > queue.acknowledged) await this.acknowledge(runId, after);
    return encodeRecords(requests);
  }

  private acknowledge(runId: number, after: number): Promise<void> {
    return this.transactions.run((tx) => this.repository.acknowledge(tx, runId, after));
  }

  /** Stores the records that the node of the run has sent and that follow the stored frames; the others are duplicates. */
  async receiveFrames({ run_id: runId, tenant_id, job_type }: SendingRun, body: Buffer): Promise<FramesResponse> {
    const records = decodeBody(body);
    const consumer = this.consumers.get(job_type);
    const read = (await consumer?.read(tenant_id, records)) ?? [];
    return this.transactions.run(async (tx) => {
      const run = await this.repository.lockRun(tx, runId);
      if (!run || !runKindOf(run.job_type).isInteractive) {
        throw notFound('CHANNEL.NOT_FOUND', `The job ${runId} accepts no frames.`);
      }
      if (run.has_ended) throw conflict('CHANNEL.ENDED', `The job ${runId} has ended.`);
      const log = await this.repository.lockFrameLog(tx, run);
      const next = log.last + 1;
      const first = records.findIndex(({ number }) => number === next);
      if (first === -1) return { next };
      const frames = records.slice(first);
      const appended = await this.repository.appendFrames(tx, log, frames);
      if (appended.kept_bytes > MAX_FRAME_LOG_BYTES)
        await this.repository.dropFrames(tx, appended, FRAME_LOG_BYTES_AFTER_DROP);
      const { service } = runKindOf(run.job_type);
      if (service && frames.some(isReady)) await this.runs.markReady(tx, runId, service.ready);
      await consumer?.consume(tx, run, read.slice(first));
      await notifyAfterCommit(tx, 'run_frames', String(runId));
      return { next: appended.last + 1 };
    });
  }
}

function decodeBody(body: Buffer): NumberedPayload[] {
  try {
    return decodeRecords(body);
  } catch (error) {
    if (error instanceof MalformedRecords) throw invalid('CHANNEL.MALFORMED', error.message);
    throw error;
  }
}

function isReady({ payload }: NumberedPayload): boolean {
  return decodeAnswer(payload)?.header.op === 'ready';
}
