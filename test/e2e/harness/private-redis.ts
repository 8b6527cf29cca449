import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { eventually } from '../../harness/eventually';
import { freePort } from '../../../scripts/embedded/ports.mjs';
import { suspend } from '../../harness/suspend';

/** A Redis that one test file may stop, freeze and restart, always on the same port and without its data. */
export class PrivateRedis {
  private child: ChildProcess | null = null;

  private constructor(
    private readonly binary: string,
    private readonly port: number,
  ) {}

  static async start(): Promise<PrivateRedis> {
    const file = process.env['TEST_RUNTIME_JSON'];
    if (!file) throw new Error('TEST_RUNTIME_JSON is not set: jest.config.cjs prepares it');
    const { redisServer } = JSON.parse(readFileSync(file, 'utf8')) as { redisServer: string };
    const redis = new PrivateRedis(redisServer, await freePort());
    await redis.start();
    return redis;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    const options = { bind: '127.0.0.1', port: String(this.port), save: '', 'maxmemory-policy': 'noeviction' };
    const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
    this.child = spawn(this.binary, args, { cwd: process.env['TMPDIR'], stdio: 'ignore' });
    await eventually(() => this.ping(), { what: 'an answer of Redis' });
  }

  /** Kills the server with SIGKILL; its data is lost. */
  async kill(): Promise<void> {
    const child = this.child;
    this.child = null;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  /** Freezes the server: it keeps its connections and answers nothing until {@link resume}. */
  halt(): Promise<void> {
    return suspend(this.child?.pid);
  }

  resume(): void {
    this.child?.kill('SIGCONT');
  }

  private async ping(): Promise<boolean> {
    const redis = new Redis(this.url, { lazyConnect: true, maxRetriesPerRequest: 0, retryStrategy: () => null });
    redis.on('error', () => undefined);
    try {
      await redis.connect();
      return (await redis.ping()) === 'PONG';
    } finally {
      redis.disconnect();
    }
  }
}
