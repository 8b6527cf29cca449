import { EventEmitter } from 'node:events';
import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Client } from 'pg';
import { Config } from '../../config/config';
import { LOGGER, type Logger } from '../logging/logger';
import type { Tx } from '../persistence/sql';

/** Channels of wake-ups; the payload is a hint, the database is the truth. */
export type WakeUpChannel = 'outbox' | 'node' | 'session' | 'log' | 'reference_data';

const CHANNELS: readonly WakeUpChannel[] = ['outbox', 'node', 'session', 'log', 'reference_data'];
const RECONNECT_MS = 500;
const CONNECT_TIMEOUT_MS = 10_000;

/** Sends a wake-up when the transaction commits, to every process that listens. */
export async function notify(tx: Tx, channel: WakeUpChannel, payload = ''): Promise<void> {
  await tx.query('SELECT pg_notify($1, $2)', [channel, payload]);
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
  on(channel: WakeUpChannel, listener: (payload: string) => void): () => void {
    this.events.on(channel, listener);
    return () => this.events.off(channel, listener);
  }

  private async connect(): Promise<void> {
    const client = new Client({
      connectionString: this.config.database.url,
      application_name: 'listener',
      keepAlive: true,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    });
    client.on('notification', (message) => this.events.emit(message.channel, message.payload ?? ''));
    client.on('error', () => this.reconnect(client));
    client.on('end', () => this.reconnect(client));
    try {
      await client.connect();
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
