import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { endGroup, isRunning, processRef, tailOf } from '../../embedded/processes.mjs';
import { accepts } from '../by-hand.mjs';

const DEADLINE_MS = 120_000;
const POLL_MS = 10;
const GRACE_MS = 10_000;

/**
 * Starts a server in a process group of its own and returns when its port is open.
 * @param {object} options
 * @param {string} options.title its name in messages
 * @param {string[]} options.command program and arguments
 * @param {number} options.port of the loopback interface
 * @param {string} options.log file for its output
 * @param {string} options.cwd
 * @param {NodeJS.ProcessEnv} options.env
 * @param {AbortSignal} options.signal
 * @returns {Promise<() => Promise<void>>} ends the server and all that it has started
 */
export async function startServer({ title, command: [program = '', ...args], port, log, cwd, env, signal }) {
  const output = openSync(log, 'w');
  const child = spawn(program, args, { cwd, env, detached: true, stdio: ['ignore', output, output] });
  closeSync(output);
  child.on('error', () => {});
  const { pid } = child;
  if (pid === undefined) throw new Error(`${title} could not be started: there is no ${program}.`);
  const ref = processRef(pid);
  const end = () => endGroup(pid, GRACE_MS);
  try {
    for (const deadline = Date.now() + DEADLINE_MS; !(await accepts(port));) {
      if (!isRunning(ref)) throw new Error(`${title} ended while it was starting:\n${tailOf(log, 20)}`);
      if (Date.now() > deadline)
        throw new Error(`${title} did not listen within ${DEADLINE_MS / 1000} s:\n${tailOf(log, 20)}`);
      await delay(POLL_MS, undefined, { signal });
    }
  } catch (error) {
    await end();
    throw error;
  }
  return end;
}
