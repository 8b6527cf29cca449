import { EventEmitter } from 'node:events';
import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Client } from 'pg';
import { Config } from '../../../config/config';
import { runWithoutCaller } from '../context/request-context';
import { LOGGER, type Logger } from '../logging/logger';
import type { Tx } from '../persistence/sql';
import { Pump } from '../process/pump';

/** Channels of PostgreSQL. */
const CHANNELS = [
  'outbox',
  'node',
  'session',
  'log',
  'reference_data',
  'run_requests',
  'run_frames',
  'scaling',
  'changes',
] as const;
export type NotificationChannel = (typeof CHANNELS)[number];

const RECONNECT_MS = 500;
const CONNECT_TIMEOUT_MS = 10_000;
/** PostgreSQL limits a payload to less than 8000 bytes. */
const MAX_PAYLOAD_CHARACTERS = 7_000;

/**
 * Sends a notification to all listening processes when the transaction commits. Use it only for rare changes, because
 * PostgreSQL commits transactions that notify one at a time. For frequent ones, use `notifyAfterCommit`.
 */
export async function notify(tx: Tx, channel: NotificationChannel, payload = ''): Promise<void> {
  await tx.query('SELECT pg_notify($1, $2)', [channel, payload]);
}

/** The payload is only a hint: listeners read the state from the database. */
export interface Notification {
  channel: NotificationChannel;
  payload: string;
}

/**
 * The LISTEN connection of the process. A lost notification is harmless: every subscriber also polls slowly, and after a
 * reconnect all of them are called with an empty payload.
 */
@Injectable()
export class PgListener implements OnModuleInit, OnApplicationShutdown {
  private readonly events = new EventEmitter().setMaxListeners(0);
  private client: Client | null = null;
  private closed = false;
  /** Payloads to be sent, by channel. */
  private readonly unsent = new Map<NotificationChannel, Set<string>>();
  private readonly sender = new Pump(() => this.sendAll(), {
    failed: (error) =>
      this.logger.warn(
        { err: error },
        'Notifications to other processes were lost; those processes learn of the changes when they poll',
      ),
  });

  constructor(
    private readonly config: Config,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  async onModuleInit(): Promise<void> {
    await this.connect();
  }

  async onApplicationShutdown(): Promise<void> {
    this.closed = true;
    await this.client?.end().catch(() => undefined);
  }

  /** Calls `listener` for each notification of the channel. The returned function unsubscribes it. */
  on(channel: NotificationChannel, listener: (payload: string) => void): () => void {
    this.events.on(channel, listener);
    return () => this.events.off(channel, listener);
  }

  /**
   * Notifies the subscribers of this process at once and those of other processes soon. One notification may carry many
   * payloads, separated by commas. Notifications are lost if the connection is lost.
   */
  send(notifications: readonly Notification[]): void {
    for (const { channel, payload } of notifications) {
      const payloads = this.unsent.get(channel) ?? new Set();
      this.unsent.set(channel, payloads.add(payload));
      // Subscribers do not work for the caller of this request.
      runWithoutCaller(() => this.events.emit(channel, payload));
    }
    this.sender.wake();
  }

  private async sendAll(): Promise<void> {
    const batch = [...this.unsent].flatMap(([channel, payloads]) =>
      joined(payloads).map((payload) => ({ channel, payload })),
    );
    this.unsent.clear();
    await this.client?.query(
      'SELECT pg_notify(channel, payload) FROM unnest($1::text[], $2::text[]) AS w (channel, payload)',
      [batch.map(({ channel }) => channel), batch.map(({ payload }) => payload)],
    );
  }

  private async connect(): Promise<void> {
    const client = new Client({
      connectionString: this.config.database.url,
      application_name: 'listener',
      keepAlive: true,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    });
    let ownId = 0;
    client.on('notification', ({ channel, payload = '', processId }) => {
      // Notifications of this process have already been delivered.
      if (processId !== ownId) this.events.emit(channel, payload);
    });
    client.on('error', () => this.reconnect(client));
    client.on('end', () => this.reconnect(client));
    try {
      await client.connect();
      ownId = (await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid ?? 0;
      // A notification is only a hint, so it need not wait for the disk.
      await client.query('SET synchronous_commit = off');
      for (const channel of CHANNELS) await client.query(`LISTEN ${channel}`);
    } catch (error) {
      void client.end().catch(() => undefined);
      throw error;
    }
    // The client is set last: the caller retries if connecting fails, and events of a failed attempt must not reconnect as well.
    this.client = client;
    if (this.closed) await client.end();
    for (const channel of CHANNELS) this.events.emit(channel, '');
  }

  private reconnect(lost: Client): void {
    if (this.closed || this.client !== lost) return;
    this.client = null;
    this.logger.warn('The LISTEN connection to PostgreSQL was lost; reconnecting');
    const retry = () => {
      if (this.closed) return;
      this.connect().catch(() => setTimeout(retry, RECONNECT_MS).unref());
    };
    setTimeout(retry, RECONNECT_MS).unref();
  }
}

/** Joins payloads with commas to as few texts as the limit allows. */
function joined(payloads: Iterable<string>): string[] {
  const texts: string[] = [];
  for (const payload of payloads) {
    const last = texts.at(-1);
    if (last === undefined || last.length + payload.length >= MAX_PAYLOAD_CHARACTERS) texts.push(payload);
    else texts[texts.length - 1] = `${last},${payload}`;
  }
  return texts;
}
