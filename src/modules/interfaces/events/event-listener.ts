import { API_PREFIX } from '../../../platform/http/openapi';
import { type EventEmitter, once } from 'node:events';
import type { EventKind, Found, Sight, Transition } from './transitions.repository';
import { pairOf } from './transitions.repository';
import { eventOf } from './cloud-event';
import type { Snapshot } from './snapshot';

/** The part of a response that a listener writes to. */
export interface Sink extends EventEmitter {
  /** Bytes that the client has not taken yet. */
  readonly writableLength: number;
  write(chunk: Buffer): unknown;
  end(): unknown;
  destroy(): unknown;
}

export interface Subscription {
  userId: number;
  tenantId: string;
  /** Null for every workspace that the user may see, and clusters and nodes. */
  workspaceId: number | null;
  kinds: ReadonlySet<EventKind> | null;
  /** The position that the client has reached; null to begin with what happens from now on. */
  since: Snapshot | null;
}

/** Events are written only as fast as the client takes them. */
const MAX_UNTAKEN_BYTES = 64 * 1024;
/** A client that still has so many events to take when more come is too slow: its stream is broken off, and it continues where it was. */
export const MAX_WAITING = 1_000;

/** Text of an event; it is made once, for all listeners. */
const bodies = new WeakMap<Transition, Buffer>();

function bodyOf(transition: Transition): Buffer {
  const known = bodies.get(transition);
  if (known) return known;
  const event = eventOf(transition);
  const body = Buffer.from(`event: ${transition.kind}\ndata: ${JSON.stringify(event)}\n\n`);
  bodies.set(transition, body);
  return body;
}

interface Batch {
  found: Found;
  sight: Sight;
}

/** One open stream of events. */
export class EventListener {
  private readonly waiting: Batch[] = [];
  private waitingEvents = 0;
  /** True while something is being sent, and until the events before the stream have been read. */
  private isBusy = true;
  isClosed = false;

  constructor(
    readonly subscription: Subscription,
    private readonly sink: Sink,
  ) {}

  /** Sends a batch that was committed after the stream began. */
  deliver(batch: Batch): void {
    if (this.isClosed) return;
    if (this.waitingEvents > MAX_WAITING) {
      this.isClosed = true;
      this.sink.destroy();
      return;
    }
    this.waiting.push(batch);
    this.waitingEvents += batch.found.transitions.length;
    if (!this.isBusy) void this.sendWaiting();
  }

  /** Sends what was committed before the stream began, and then what has waited for that. */
  async begin(earlier: Batch | null, position: Snapshot): Promise<void> {
    this.write(Buffer.from('retry: 2000\n\n'));
    if (earlier) await this.send({ ...earlier, found: { ...earlier.found, snapshot: position } });
    else this.write(positionOf(position, ':'));
    await this.sendWaiting();
  }

  /** Tells the client and all proxies that the stream is alive, and the client its position. */
  keepAlive(position: Snapshot): void {
    if (!this.isBusy) this.write(positionOf(position, ': alive'));
  }

  /** Ends the stream after what was written, so that the client continues at another process. */
  end(): void {
    this.isClosed = true;
    this.sink.end();
  }

  close(): void {
    this.isClosed = true;
    this.waiting.length = 0;
  }

  private async sendWaiting(): Promise<void> {
    this.isBusy = true;
    for (let batch = this.waiting[0]; batch && !this.isClosed; batch = this.waiting[0]) {
      await this.send(batch);
      this.waiting.shift();
      this.waitingEvents -= batch.found.transitions.length;
    }
    this.isBusy = false;
  }

  private async send({ found: { transitions, snapshot, isPartial }, sight }: Batch): Promise<void> {
    for (const transition of transitions) {
      if (this.isClosed) return;
      if (this.wants(transition) && this.maySee(transition, sight)) this.write(bodyOf(transition));
      if (this.sink.writableLength > MAX_UNTAKEN_BYTES) await this.taken();
    }
    // The position follows the events: a client that loses some of them begins before all of them.
    this.write(isPartial ? gapAt(snapshot) : positionOf(snapshot, ':'));
  }

  /** Resolves when the client has taken everything, or is gone. `Streams` ends one that takes nothing at all. */
  private async taken(): Promise<void> {
    const over = new AbortController();
    const { signal } = over;
    await Promise.race([once(this.sink, 'drain', { signal }), once(this.sink, 'close', { signal })]).catch(
      () => undefined,
    );
    over.abort();
  }

  private wants({ kind, workspace_id: workspaceId, xact_id: transaction }: Transition): boolean {
    const { kinds, workspaceId: only, since } = this.subscription;
    if (kinds && !kinds.has(kind)) return false;
    if (only !== null && workspaceId !== only) return false;
    return since === null || !since.sees(transaction);
  }

  private maySee({ workspace_id: workspaceId }: Transition, { everywhere, pairs }: Sight): boolean {
    const { userId } = this.subscription;
    return workspaceId === null || everywhere.has(userId) || pairs.has(pairOf(userId, workspaceId));
  }

  private write(chunk: Buffer): void {
    if (!this.isClosed) this.sink.write(chunk);
  }
}

function positionOf({ text }: Snapshot, comment: string): Buffer {
  return Buffer.from(`id: ${text}\n${comment}\n\n`);
}

/** Returns the event that says that some are missing, so that the client reads again what it shows. */
function gapAt({ text }: Snapshot): Buffer {
  const event = {
    specversion: '1.0',
    id: `gap-${text}`,
    source: `/${API_PREFIX}/events`,
    type: 'events.missing',
    time: new Date(),
    datacontenttype: 'application/json',
    data: { reason: 'More happened than a stream repeats. Read again what you show.' },
  };
  return Buffer.from(`id: ${text}\nevent: gap\ndata: ${JSON.stringify(event)}\n\n`);
}
