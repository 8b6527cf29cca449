import type { ChildProcess } from 'node:child_process';
import { chmodSync, existsSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { shellScript } from '../spark/shell-script';
import type { BoundedLog } from './bounded-log';
import { readJson, writeJson } from './files';
import { identify, killSession, type NodeOwner, type ProcessId } from './processes';
import type { Sandbox } from './sandbox';
import { pause } from './waiting';

/** Maximum output of each stream in the error message; bytes. */
const OUTPUT_BYTES = 4_000;
const DISK_CHECK_INTERVAL_MS = 100;
const KILL_TIMEOUT_MS = 10_000;
/** A script must leave this much of the disk free: these bytes, or this share of a small disk. */
const MIN_FREE_BYTES = 256 * 1024 * 1024;
const MIN_FREE_SHARE = 0.1;
/** The output may contain NUL, which PostgreSQL cannot store. */
const NUL = /\0/g;

/** The parts of the node's agent that a bootstrap script needs. */
export interface BootstrapContext {
  owner: NodeOwner;
  sandbox: Sandbox;
  /** Logs of the node. */
  logs: { stdout: BoundedLog; stderr: BoundedLog };
  /** Starts the file, which is in the sandbox's folder. Its output goes to the logs of the node. */
  launch: (path: string, file: string) => ChildProcess;
  signal: AbortSignal;
}

/**
 * Runs the script unless it has already run on this node. Returns a sentence that says why it failed, with the end of its output; null
 * if it succeeded. The script always ends: after `timeoutMs` at the latest, or when the disk is almost full.
 */
export async function runBootstrapScript(
  script: string | null,
  timeoutMs: number,
  context: BootstrapContext,
): Promise<string | null> {
  const { owner, sandbox, logs, signal } = context;
  const { nodeDir } = owner;
  const [marker, journal] = [`${nodeDir}/bootstrap.done`, `${nodeDir}/bootstrap.json`];
  if (script === null || script.trim() === '' || existsSync(marker)) return null;
  // A script that an earlier agent left running must not run beside its repetition.
  const last = readJson<ProcessId>(journal);
  if (last) await endSession(last, owner);
  const path = `${nodeDir}/spark/bootstrap.sh`;
  rmSync(path, { force: true });
  const text = shellScript(script);
  writeFileSync(path, text.startsWith('#!') ? text : `#!/bin/sh\n${text}`);
  chmodSync(path, 0o500);
  sandbox.chown('bootstrap.sh');
  const begin = [logs.stderr.length, logs.stdout.length];
  const child = context.launch(path, 'bootstrap.sh');
  const process = child.pid === undefined ? null : identify(child.pid);
  const decided = new AbortController();
  let problem: string | null;
  try {
    if (process) writeJson(journal, process);
    const cancelled = AbortSignal.any([decided.signal, signal]);
    problem = await Promise.race([endOf(child), untilTimeout(timeoutMs, cancelled), untilFull(nodeDir, cancelled)]);
  } catch (error) {
    problem = `could not be monitored: ${(error as Error).message}`;
  } finally {
    decided.abort();
  }
  if (process && problem !== null) await endSession(process, owner);
  problem ??= mark(marker);
  if (problem === null) return null;
  const output = [logs.stderr, logs.stdout].map((log, at) => log.since(begin[at] ?? 0, OUTPUT_BYTES)).join('\n');
  return `The bootstrap script ${problem}. Its last output: ${output.replace(NUL, '').trim()}`;
}

function endOf(child: ChildProcess): Promise<string | null> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(`could not be started: ${error.message}`));
    child.once('exit', (code, name) =>
      resolve(code === 0 ? null : name ? `was ended by ${name}` : `ended with ${code}`),
    );
  });
}

async function untilTimeout(ms: number, signal: AbortSignal): Promise<string> {
  await pause(ms, signal);
  return `took longer than ${duration(ms)}`;
}

async function untilFull(path: string, signal: AbortSignal): Promise<string> {
  const isFull = (): boolean => {
    const { bavail, blocks, bsize } = statfsSync(path);
    return bavail * bsize < Math.min(MIN_FREE_BYTES, blocks * bsize * MIN_FREE_SHARE);
  };
  // A disk that was already full is not the script's fault.
  const wasFull = isFull();
  while (!signal.aborted && (wasFull || !isFull())) await pause(DISK_CHECK_INTERVAL_MS, signal);
  return 'filled the disk of the node, so it was stopped';
}

function mark(marker: string): string | null {
  try {
    writeFileSync(marker, '');
    return null;
  } catch (error) {
    return `succeeded, but the node could not save that: ${(error as Error).message}`;
  }
}

/** Gives up after a while: a script that starts processes faster than they are killed runs until its node is destroyed. */
async function endSession(leader: ProcessId, owner: NodeOwner): Promise<void> {
  const deadline = performance.now() + KILL_TIMEOUT_MS;
  while (!killSession(leader, owner) && performance.now() < deadline) await pause(20);
}

function duration(ms: number): string {
  const minutes = ms / 60_000;
  if (minutes === 1) return 'a minute';
  return Number.isInteger(minutes) ? `${minutes} minutes` : `${ms / 1_000} seconds`;
}
