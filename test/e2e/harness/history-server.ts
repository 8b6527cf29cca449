import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../../harness/eventually';
import { freePort } from '../../../scripts/embedded/ports.mjs';
import type { Json } from './api-client';
import type { TestRuntime } from './platform';

/** Spark's own History Server over a folder of event logs. */
export class HistoryServer {
  private constructor(
    private readonly folder: string,
    private readonly child: ChildProcess,
    private readonly url: string,
  ) {}

  /** @param logs contents by file name */
  static async start(runtime: TestRuntime, logs: Readonly<Record<string, string>>): Promise<HistoryServer> {
    const folder = mkdtempSync(join(tmpdir(), 'history-'));
    for (const [name, text] of Object.entries(logs)) writeFileSync(join(folder, name), text);
    const port = await freePort();
    const options = {
      'spark.history.fs.logDirectory': `file://${folder}`,
      'spark.history.ui.port': port,
      'spark.history.fs.update.interval': '1s',
    };
    const child = spawn(join(runtime.sparkHome, 'bin/spark-class'), ['org.apache.spark.deploy.history.HistoryServer'], {
      stdio: 'ignore',
      env: {
        PATH: process.env['PATH'],
        JAVA_HOME: runtime.javaHome,
        SPARK_LOCAL_IP: '127.0.0.1',
        SPARK_DAEMON_MEMORY: '512m',
        SPARK_HISTORY_OPTS: Object.entries(options)
          .map(([name, value]) => `-D${name}=${value}`)
          .join(' '),
      },
    });
    return new HistoryServer(folder, child, `http://127.0.0.1:${port}/api/v1/applications`);
  }

  /** Returns the response about an application, once the server has read its log. */
  application(id: string, path: string): Promise<Json> {
    return eventually(
      async () => {
        const response = await fetch(`${this.url}/${id}/${path}`).catch(() => null);
        return response?.ok ? ((await response.json()) as Json) : null;
      },
      { timeoutMs: 180_000, everyMs: 200, what: `${path} of ${id} in the History Server` },
    );
  }

  async stop(): Promise<void> {
    const gone = once(this.child, 'exit');
    if (this.child.exitCode === null && this.child.kill('SIGKILL')) await gone;
    rmSync(this.folder, { recursive: true, force: true });
  }
}
