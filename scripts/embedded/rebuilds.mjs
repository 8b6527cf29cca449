import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from './install.mjs';
import { runCommand } from './processes.mjs';
import { SetupError } from './setup-error.mjs';

/**
 * Builds dist whenever a source changes and the compiler's watch mode finds no type errors. If it finds any, dist stays as it
 * is, and the running processes continue with the last good build.
 */
export class Rebuilds {
  /**
   * @param {object} options
   * @param {(text: string, transient?: boolean) => void} options.print prints errors and the outcome of builds
   * @param {AbortSignal} options.signal
   * @param {string} [options.root] project folder
   * @param {(root: string, signal: AbortSignal) => Promise<unknown>} [options.build] builds dist
   */
  constructor({ print, signal, root = projectRoot, build = buildPrograms }) {
    this.print = print;
    this.root = root;
    this.build = build;
    this.ending = new AbortController();
    this.signal = AbortSignal.any([signal, this.ending.signal]);
    /** @type {(() => Promise<void>) | undefined} */
    this.onBuilt = undefined;
    this.isStarted = false;
    /** True if a build is due because sources changed after the first check, but before `follow` was called. */
    this.isMissed = false;
    this.isQueued = false;
    /** Runs builds, and onBuilt after each, one after the other. */
    this.work = Promise.resolve();
  }

  /**
   * dist must already be built from the current sources.
   * @returns {Promise<void>} once the compiler has checked everything for the first time
   * @throws {SetupError} if the compiler ends before
   */
  async start() {
    // From here on the stamp no longer describes the build.
    rmSync(join(this.root, 'dist', '.build-sha'), { force: true });
    const args = ['--watch', '--preserveWatchOutput', '--noEmit', '--project', 'tsconfig.build.json'];
    await new Promise((resolve, reject) => {
      this.compiling = runCommand(process.execPath, [join(this.root, 'node_modules', '.bin', 'tsc'), ...args], {
        cwd: this.root,
        env: process.env,
        signal: this.signal,
        onLine: (line) => this.onLine(line, () => resolve(undefined)),
      }).then(
        ({ code }) => {
          const message = `The compiler ended with status ${code}; changes are no longer built. Run the command again.`;
          this.print(message);
          reject(new SetupError(message));
        },
        (/** @type {Error} */ error) => {
          if (!this.signal.aborted) this.print(`The compiler failed: ${error.message}`);
          reject(error);
        },
      );
    });
    this.isStarted = true;
  }

  /** @param {() => Promise<void>} onBuilt called after each build since `start`, never twice at once */
  follow(onBuilt) {
    this.onBuilt = onBuilt;
    if (this.isMissed) this.queue(onBuilt);
  }

  /** @param {string} line of the compiler @param {() => void} onChecked called after each check of everything */
  onLine(line, onChecked) {
    const errors = / - Found (\d+) errors?\. Watching/.exec(line)?.[1];
    if (/ - (Starting compilation|File change detected)/.test(line)) this.print('Checking types', true);
    else if (errors === undefined && line.trim() !== '') this.print(line);
    if (errors === undefined) return;
    if (errors !== '0') this.print('Not built; the last good build keeps running');
    else if (this.onBuilt) this.queue(this.onBuilt);
    else if (this.isStarted) this.isMissed = true;
    onChecked();
  }

  /**
   * Builds once the last build has been applied. A build that has not begun yet also covers later changes.
   * @param {() => Promise<void>} onBuilt
   */
  queue(onBuilt) {
    if (this.isQueued) return;
    this.isQueued = true;
    this.work = this.work.then(async () => {
      this.isQueued = false;
      if (this.signal.aborted) return;
      await this.build(this.root, this.signal)
        .then(onBuilt)
        .catch((/** @type {Error} */ error) => this.signal.aborted || this.print(error.message));
    });
  }

  /** Ends the compiler, and returns once no build is being applied. */
  async stop() {
    this.ending.abort();
    await this.compiling;
    await this.work;
  }
}

/**
 * Builds in a process of its own, because the compilers' libraries keep all that they read in memory.
 * @param {string} root
 * @param {AbortSignal} signal
 */
async function buildPrograms(root, signal) {
  const { code, output } = await runCommand(process.execPath, [join(root, 'scripts', 'build.mjs')], {
    cwd: root,
    signal,
  });
  if (code !== 0) throw new SetupError(`The build failed; the last good build keeps running:\n${output}`);
}
