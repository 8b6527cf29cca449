import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { suspend } from '../../harness/suspend';

const STARTS_WITHIN_MS = 180_000;

/** A server that runs as a process of its own, so that a test can suspend and kill it. */
export class ServerProcess {
  private constructor(private readonly child: ChildProcess) {}

  /** @param pattern of the line that it prints once it serves @returns the first group of the pattern */
  static async start(
    command: string,
    args: string[],
    pattern: RegExp,
  ): Promise<{ process: ServerProcess; firstMatch: string }> {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const process = new ServerProcess(child);
    const deadline = setTimeout(() => child.kill('SIGKILL'), STARTS_WITHIN_MS);
    try {
      for await (const line of createInterface({ input: child.stdout })) {
        const told = pattern.exec(line)?.[1];
        if (told === undefined) continue;
        child.stdout.resume();
        return { process, firstMatch: told };
      }
      throw new Error(`${command} ended, or did not serve within ${STARTS_WITHIN_MS / 1000} seconds`);
    } finally {
      clearTimeout(deadline);
    }
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await ended;
  }

  /** The server keeps its port and its connections, but does not respond until {@link resume}. */
  halt(): Promise<void> {
    return suspend(this.child.pid);
  }

  resume(): void {
    this.child.kill('SIGCONT');
  }
}
