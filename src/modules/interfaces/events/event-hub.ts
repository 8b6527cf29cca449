import { Inject, Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { LOGGER, type Logger } from '../../../platform/kernel/logging/logger';
import { PgListener } from '../../../platform/kernel/notifications/pg-listener';
import { Pump } from '../../../platform/kernel/process/pump';
import { EventListener, type Sink, type Subscription } from './event-listener';
import type { Snapshot } from './snapshot';
import { type Found, type Sight, type Transition, TransitionsRepository } from './transitions.repository';

/** Time between two reads if no notification comes. */
const POLL_MS = 2_000;
/** Shortest pause between two reads, however much happens. */
const MIN_PAUSE_MS = 50;
const KEEP_ALIVE_MS = 15_000;

/**
 * Sends transitions to the open streams of this process. One read of the histories and one of permissions per tenant serve all
 * streams; without streams, nothing is read. The histories are the log: a client that names the position that it has reached gets
 * what was committed since, from any process (ADR 0074).
 */
@Injectable()
export class EventHub implements OnModuleInit, OnModuleDestroy {
  private readonly listeners = new Set<EventListener>();
  /** Streams that begin with the next pass, so that none begins between a read and its delivery. */
  private joining: EventListener[] = [];
  /** Everything that it sees has been delivered; null while there are no streams. */
  private position: Snapshot | null = null;
  private readonly reads = new Pump(() => this.pass(), {
    intervalMs: POLL_MS,
    minPauseMs: MIN_PAUSE_MS,
    failed: (error) => this.logger.warn({ err: error }, 'Events could not be read; the next pass reads them'),
  });
  private stopListening: () => void = () => undefined;
  private heartbeat: NodeJS.Timeout | undefined;
  private isStopping = false;

  constructor(
    private readonly transitions: TransitionsRepository,
    private readonly listener: PgListener,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onModuleInit(): void {
    this.stopListening = this.listener.on('changes', () => {
      if (this.listeners.size > 0) this.reads.wake();
    });
    this.heartbeat = setInterval(() => this.keepAlive(), KEEP_ALIVE_MS).unref();
  }

  /** A stopping process ends its streams before it waits for its requests, so that clients continue at another one. */
  async onModuleDestroy(): Promise<void> {
    this.isStopping = true;
    this.stopListening();
    clearInterval(this.heartbeat);
    for (const one of [...this.joining, ...this.listeners]) one.end();
    this.listeners.clear();
    await this.reads.stop();
  }

  /** Opens a stream, until the returned function is called. */
  open(subscription: Subscription, sink: Sink): () => void {
    const one = new EventListener(subscription, sink);
    if (this.isStopping) one.end();
    else {
      this.joining.push(one);
      this.reads.wake();
    }
    return () => {
      one.close();
      this.listeners.delete(one);
    };
  }

  private async pass(): Promise<void> {
    const joining = this.joining.filter(({ isClosed }) => !isClosed);
    this.joining = [];
    if (joining.length === 0 && this.listeners.size === 0) {
      this.position = null;
      return;
    }
    try {
      this.position = await this.deliver();
    } catch (error) {
      this.joining.push(...joining);
      throw error;
    }
    for (const one of this.listeners) if (one.isClosed) this.listeners.delete(one);
    for (const one of joining) {
      this.listeners.add(one);
      void this.begin(one, this.position);
    }
  }

  /** Delivers what was committed since the position, and returns the new one. */
  private async deliver(): Promise<Snapshot> {
    if (this.position === null || this.listeners.size === 0) return this.transitions.snapshot();
    const found = await this.transitions.since(this.position);
    for (const { listeners, part, sight } of await this.deliveriesOf(found)) {
      for (const one of listeners) one.deliver({ found: part, sight });
    }
    return found.snapshot;
  }

  /** Finds out who may see what, before anything is delivered, so that a failure delivers nothing. */
  private async deliveriesOf(found: Found): Promise<{ listeners: EventListener[]; part: Found; sight: Sight }[]> {
    const byTenant = groupBy(found.transitions, ({ tenant_id: tenantId }) => tenantId);
    const listening = groupBy(this.listeners, ({ subscription }) => subscription.tenantId);
    const tenants = found.isPartial ? [...listening.keys()] : [...byTenant.keys()];
    const deliveries = tenants.map(async (tenantId) => {
      const listeners = listening.get(tenantId) ?? [];
      const transitions = byTenant.get(tenantId) ?? [];
      const sight = await this.sightOf(tenantId, listeners, transitions);
      return { listeners, part: { ...found, transitions }, sight };
    });
    return Promise.all(deliveries);
  }

  private sightOf(
    tenantId: string,
    listeners: readonly EventListener[],
    transitions: readonly Transition[],
  ): Promise<Sight> {
    const users = new Set(listeners.map(({ subscription }) => subscription.userId));
    const workspaces = new Set(transitions.map(({ workspace_id: id }) => id).filter((id) => id !== null));
    if (users.size === 0 || workspaces.size === 0) return Promise.resolve({ everywhere: new Set(), pairs: new Set() });
    return this.transitions.sight(tenantId, [...users], [...workspaces]);
  }

  /** Reads what was committed between the client's position and that of the process. A failure ends the stream; its client retries. */
  private async begin(one: EventListener, position: Snapshot): Promise<void> {
    const { since, tenantId } = one.subscription;
    try {
      if (!since) {
        await one.begin(null, position);
        return;
      }
      const found = await this.transitions.since(since, { tenantId, snapshot: position });
      await one.begin({ found, sight: await this.sightOf(tenantId, [one], found.transitions) }, position);
    } catch (error) {
      this.logger.warn({ err: error }, 'The events before a stream could not be read, so it is ended');
      one.end();
    }
  }

  private keepAlive(): void {
    if (this.position === null) return;
    for (const one of this.listeners) one.keepAlive(this.position);
  }
}

function groupBy<T>(values: Iterable<T>, keyOf: (value: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const value of values) {
    const group = groups.get(keyOf(value));
    if (group) group.push(value);
    else groups.set(keyOf(value), [value]);
  }
  return groups;
}
