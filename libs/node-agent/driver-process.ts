import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { GeneratedFile } from '../spark/scala-repl';
import type { RunPaths } from '../spark/submit-command';
import { readText } from './files';
import type { ProcessId } from './processes';
import type { Sandbox } from './sandbox';

/** Folders of a driver's box, which belong to its user. */
export const DRIVER_FOLDERS = ['work', 'home', 'events', 'tmp', 'local', 'staging', 'generated'];

/**
 * Starts the driver in its own session and records its process and its exit code, so that it needs no parent. `mkdir` lets only the
 * first of two starts through. The trap keeps the wrapper alive when its group receives a signal. The files belong to the agent, in a
 * folder that the driver cannot write to, so the exit code can be trusted.
 */
const wrapper = (more: string) => `
cd "$1" && shift || exit 111
mkdir started 2>/dev/null || exit 111
read -r a b c d e f g h i j k l m n o p q r s t u start rest </proc/$$/stat
echo "$$ $start" >pid
trap : TERM INT HUP
"$@" <stdin >>stdout 2>>stderr${more}
echo $? >exit
`;

/** The files of `dir` for the requests (3) and the frames (4) of a run. The run cannot open them by name. */
export const CHANNEL_FILES = ['requests', 'frames'];
const CHANNEL = ' 3<requests 4>>frames';

/** The files of `dir` that the wrapper makes. Without them a driver can be started in the folder again. */
export const WRAPPER_FILES = ['started', 'pid', 'exit'];

/**
 * Starts a driver whose streams are files of `dir`.
 * @param argv from {@link Sandbox.launch}
 * @param hasChannel true to open {@link CHANNEL_FILES} for it, which exist
 */
export function startDriver(dir: string, sandbox: Sandbox, argv: readonly string[], hasChannel: boolean): ChildProcess {
  return spawn('/bin/sh', ['-c', wrapper(hasChannel ? CHANNEL : ''), 'run', dir, ...argv], {
    detached: true,
    stdio: 'ignore',
    env: sandbox.environment(),
  });
}

/** Returns the wrapper of the driver in `dir`; null if none has started. */
export function startedProcess(dir: string): ProcessId | null {
  const found = /^(\d+) (\d+)\n/.exec(readText(`${dir}/pid`) ?? '');
  return found ? { pid: Number(found[1]), startTime: found[2] ?? '' } : null;
}

/** Returns the paths of a driver with this box. */
export function driverPaths(box: string): RunPaths {
  return {
    work: `${box}/work`,
    home: `${box}/home`,
    events: `${box}/events`,
    local: `${box}/local`,
    tmp: `${box}/tmp`,
    generated: `${box}/generated`,
    stdoutBegin: `${box}/stdout.begin`,
  };
}

export function writeGenerated({ path, content, isProgram }: GeneratedFile): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(path, content, { mode: isProgram ? 0o700 : 0o600 });
}
