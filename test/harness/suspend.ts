import { readdirSync, readFileSync } from 'node:fs';
import { eventually } from './eventually';

/**
 * Suspends a process and returns when all its threads stand still: on a busy machine, a thread may go on for a while after
 * SIGSTOP was sent, and answer another request.
 */
export async function suspend(pid: number | undefined): Promise<void> {
  if (pid === undefined) throw new Error('The process to suspend is not running.');
  process.kill(pid, 'SIGSTOP');
  const threads = `/proc/${pid}/task`;
  await eventually(() => readdirSync(threads).every((thread) => stateOf(`${threads}/${thread}/stat`) === 'T'), {
    what: `the suspension of process ${pid}`,
  });
}

/** Returns the letter after the name of the command, which is in brackets and may contain some itself; see proc(5). */
function stateOf(path: string): string | undefined {
  const stat = readFileSync(path, 'utf8');
  return stat[stat.lastIndexOf(')') + 2];
}
