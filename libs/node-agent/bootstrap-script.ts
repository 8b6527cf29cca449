import type { ChildProcess } from 'node:child_process';
import { chmodSync, existsSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { shellScript } from '../spark/shell-script';
import type { BoundedLog } from './bounded-log';
import { readJson, writeJson } from './files';
import { identify, killSession, type NodeOwner, type ProcessId } from './processes';
import type { Sandbox } from './sandbox';
import { pause } from './waiting';

/** Of the output, what is told with a failure; bytes of each stream. */
const TOLD_BYTES = 4_000;
const LOOK_MS = 100;
const END_MS = 10_000;
/** Of the disk, what a script must leave to the node: so much, or so large a part of a small one. */
const LEFT_BYTES = 256 * 1024 * 1024;
const LEFT_PART = 0.1;
/** What a script that writes to a file of its own, and not to the log, cannot keep from being told. */
const NUL = /\0/g;

/** What a bootstrap script needs from the node's agent. */
export interface BootstrapContext {
  owner: NodeOwner;
  sandbox: Sandbox;
  /** Output of the node. */
  logs: { stdout: BoundedLog; stderr: BoundedLog };
  /** Starts the file, which is in the sandbox's folder, with its output in the log of the node. */
  launch: (path: string, file: string) => ChildProcess;
  signal: AbortSignal;
}

/**
 * Runs the script unless it has been run on this node. Answers a sentence why it failed, with the end of its output; null if it did
 * not. Whatever it does to the time and the disk of the node, it ends: after `timeoutMs`, or when the disk is about to be full.
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
  // One that an earlier agent left half done must not run beside its repetition.
  const last = readJson<ProcessId>(journal);
  if (last) await endSession(last, owner);
  const path = `${nodeDir}/spark/bootstrap.sh`;
  rmSync(path, { force: true });
  const text = shellScript(script);
  writeFileSync(path, text.startsWith('#!') ? text : `#!/bin/sh\n${text}`);
  chmodSync(path, 0o500);
  sandbox.give('bootstrap.sh');
  const begin = [logs.stderr.length, logs.stdout.length];
  const child = context.launch(path, 'bootstrap.sh');
  const process = child.pid === undefined ? null : identify(child.pid);
  const settled = new AbortController();
  let problem: string | null;
  try {
    if (process) writeJson(journal, process);
    const given = AbortSignal.any([settled.signal, signal]);
    problem = await Promise.race([endOf(child), untilLate(timeoutMs, given), untilFull(nodeDir, given)]);
  } catch (error) {
    problem = `could not be followed: ${(error as Error).message}`;
  } finally {
    settled.abort();
  }
  if (process && problem !== null) await endSession(process, owner);
  problem ??= mark(marker);
  if (problem === null) return null;
  const output = [logs.stderr, logs.stdout].map((log, at) => log.since(begin[at] ?? 0, TOLD_BYTES)).join('\n');
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

async function untilLate(ms: number, signal: AbortSignal): Promise<string> {
  await pause(ms, signal);
  return `took longer than ${duration(ms)}`;
}

async function untilFull(path: string, signal: AbortSignal): Promise<string> {
  const isFull = (): boolean => {
    const { bavail, blocks, bsize } = statfsSync(path);
    return bavail * bsize < Math.min(LEFT_BYTES, blocks * bsize * LEFT_PART);
  };
  // A disk that was full before is not the script's doing.
  const wasFull = isFull();
  while (!signal.aborted && (wasFull || !isFull())) await pause(LOOK_MS, signal);
  return 'filled the disk of the node, so it was ended';
}

function mark(marker: string): string | null {
  try {
    writeFileSync(marker, '');
    return null;
  } catch (error) {
    return `ended well, but the node could not note it: ${(error as Error).message}`;
  }
}

/** One that makes processes faster than they are ended goes on until its node is destroyed. */
async function endSession(leader: ProcessId, owner: NodeOwner): Promise<void> {
  const deadline = performance.now() + END_MS;
  while (!killSession(leader, owner) && performance.now() < deadline) await pause(20);
}

function duration(ms: number): string {
  const minutes = ms / 60_000;
  if (minutes === 1) return 'a minute';
  return Number.isInteger(minutes) ? `${minutes} minutes` : `${ms / 1_000} seconds`;
}
