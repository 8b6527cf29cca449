import { EventEmitter } from 'node:events';
import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Client } from 'pg';
import { Config } from '../../../config/config';
import { runWithoutCaller } from '../context/request-context';
import { LOGGER, type Logger } from '../logging/logger';
import type { Tx } from '../persistence/sql';
import { Pump } from '../process/pump';

/** Channels of wake-ups. */
const CHANNELS = [
  'outbox',
  'node',
  'session',
  'log',
  'reference_data',
  'run_requests',
  'run_frames',
  'scaling',
] as const;
export type NotificationChannel = (typeof CHANNELS)[number];

const RECONNECT_MS = 500;
const CONNECT_TIMEOUT_MS = 10_000;
/** A payload is shorter than 8000 bytes, says PostgreSQL. */
const PAYLOAD_CHARACTERS = 7_000;

/**
 * Sends a wake-up when the transaction commits, to every process that listens: for rare changes, since PostgreSQL lets
 * only one of the transactions that notify commit at a time. Others use `notifyAfterCommit`.
 */
export async function notify(tx: Tx, channel: NotificationChannel, payload = ''): Promise<void> {
  await tx.query('SELECT pg_notify($1, $2)', [channel, payload]);
}

/** A wake-up: the payload is a hint, the database is the truth. */
export interface Notification {
  channel: NotificationChannel;
  payload: string;
}

/**
 * One LISTEN connection of the process. A lost wake-up is harmless: every listener also polls slowly, and after a
 * reconnect all of them are called with an empty payload.
 */
@Injectable()
export class PgListener implements OnModuleInit, OnApplicationShutdown {
  private readonly events = new EventEmitter().setMaxListeners(0);
  private client: Client | null = null;
  private closed = false;
  /** What is to be sent, by channel. */
  private readonly unsent = new Map<NotificationChannel, Set<string>>();
  private readonly sender = new Pump(() => this.sendAll(), {
    failed: (error) => this.logger.warn({ err: error }, 'Wake-ups of other processes were lost; they poll'),
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

  /** Calls `listener` on each wake-up of the channel; the returned function stops that. */
  on(channel: NotificationChannel, listener: (payload: string) => void): () => void {
    this.events.on(channel, listener);
    return () => this.events.off(channel, listener);
  }

  /**
   * Wakes the listeners of this process at once and those of the others soon, many payloads in one notification, with
   * commas between them. A wake-up is lost if the connection is.
   */
  send(notifications: readonly Notification[]): void {
    for (const { channel, payload } of notifications) {
      const payloads = this.unsent.get(channel) ?? new Set();
      this.unsent.set(channel, payloads.add(payload));
      // Whoever listens works for others than the request that wakes.
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
      // Its own it has delivered already.
      if (processId !== ownId) this.events.emit(channel, payload);
    });
    client.on('error', () => this.reconnect(client));
    client.on('end', () => this.reconnect(client));
    try {
      await client.connect();
      ownId = (await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid ?? 0;
      // Wake-ups are hints: none is worth a wait for the disk.
      await client.query('SET synchronous_commit = off');
      for (const channel of CHANNELS) await client.query(`LISTEN ${channel}`);
    } catch (error) {
      void client.end().catch(() => undefined);
      throw error;
    }
    // Not earlier: the caller retries if this fails, and the events of a failed try must not do so, too.
    this.client = client;
    if (this.closed) await client.end();
    for (const channel of CHANNELS) this.events.emit(channel, '');
  }

  private reconnect(lost: Client): void {
    if (this.closed || this.client !== lost) return;
    this.client = null;
    this.logger.warn('The wake-up connection to PostgreSQL was lost; reconnecting');
    const retry = () => {
      if (this.closed) return;
      this.connect().catch(() => setTimeout(retry, RECONNECT_MS).unref());
    };
    setTimeout(retry, RECONNECT_MS).unref();
  }
}

/** The payloads, with commas between them, in as few texts as the limit allows. */
function joined(payloads: Iterable<string>): string[] {
  const texts: string[] = [];
  for (const payload of payloads) {
    const last = texts.at(-1);
    if (last === undefined || last.length + payload.length >= PAYLOAD_CHARACTERS) texts.push(payload);
    else texts[texts.length - 1] = `${last},${payload}`;
  }
  return texts;
}
