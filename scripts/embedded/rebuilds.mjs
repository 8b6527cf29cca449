import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from './install.mjs';
import { runCommand } from './processes.mjs';
import { SetupError } from './setup-error.mjs';

/**
 * Builds dist whenever a source changes, once the compiler's own watch mode has found no error in the types. Sources with errors
 * change nothing there: what runs goes on with the last good build.
 */
export class Rebuilds {
  /**
   * @param {object} options
   * @param {(text: string, transient?: boolean) => void} options.print is given errors, and what becomes of them
   * @param {AbortSignal} options.signal
   * @param {string} [options.root] project folder
   * @param {(root: string, signal: AbortSignal) => Promise<unknown>} [options.build] makes dist
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
    /** A build that was not reported yet, after the first check. */
    this.isMissed = false;
    this.isQueued = false;
    /** The work of onBuilt, one after the other. */
    this.work = Promise.resolve();
  }

  /**
   * The build must be there, made from the sources as they are.
   * @returns {Promise<void>} when the compiler has looked at everything for the first time
   * @throws {SetupError} when the compiler ends before
   */
  async start() {
    // From here on the build is no longer the one that its stamp describes.
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
          const message = `The compiler ended with status ${code}; changes are no longer built.`;
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

  /** @param {string} line of the compiler @param {() => void} looked called after each look at everything */
  onLine(line, looked) {
    const errors = / - Found (\d+) errors?\. Watching/.exec(line)?.[1];
    if (/ - (Starting compilation|File change detected)/.test(line)) this.print('Checking types', true);
    else if (errors === undefined && line.trim() !== '') this.print(line);
    if (errors === undefined) return;
    if (errors !== '0') this.print('Not built; the last good build keeps running');
    else if (this.onBuilt) this.queue(this.onBuilt);
    else if (this.isStarted) this.isMissed = true;
    looked();
  }

  /**
   * Builds that finish while the last one is still being taken over are taken over together.
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

  /** Ends the compiler, and returns when nothing is being taken over any longer. */
  async stop() {
    this.ending.abort();
    await this.compiling;
    await this.work;
  }
}

/** In a process of its own: the compilers' libraries keep what they have read. @param {string} root @param {AbortSignal} signal */
async function buildPrograms(root, signal) {
  const { code, output } = await runCommand(process.execPath, [join(root, 'scripts', 'build.mjs')], {
    cwd: root,
    signal,
  });
  if (code !== 0) throw new SetupError(`The build failed; the last good build keeps running:\n${output}`);
}
