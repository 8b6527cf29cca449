import { appendFileSync, mkdirSync } from 'node:fs';

/** Fields of a log line. `correlation_id` links it to the request that caused it. */
export type LogFields = Record<string, string | number | boolean | null | undefined>;

/** The node's own log: JSON lines of the agent between the output of Spark's daemons, shipped as the node's logs. */
export class NodeLog {
  readonly stdout: string;
  readonly stderr: string;

  constructor(nodeDir: string) {
    mkdirSync(`${nodeDir}/logs`, { recursive: true, mode: 0o700 });
    this.stdout = `${nodeDir}/logs/stdout`;
    this.stderr = `${nodeDir}/logs/stderr`;
    for (const path of [this.stdout, this.stderr]) appendFileSync(path, '', { mode: 0o600 });
  }

  info(message: string, fields: LogFields = {}): void {
    this.write('info', message, fields);
  }

  warn(message: string, fields: LogFields = {}): void {
    this.write('warn', message, fields);
  }

  private write(level: string, message: string, fields: LogFields): void {
    const line = JSON.stringify({ time: new Date().toISOString(), level, message, ...fields });
    try {
      appendFileSync(this.stdout, `${line}\n`);
    } catch {
      // A full disk must not end the agent, which still has to report its runs.
    }
  }
}
