// The scripts that run the platform or its tests import this first. If their Node is no longer maintained, it fetches a newer
// one, runs the script again with it, and exits with the status of that run; the rest of the script does not run in this
// process.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { basename, delimiter, join, resolve } from 'node:path';
import { projectRoot } from './install.mjs';
import { onEndOfNpm } from './interruption.mjs';
import { fetchNode, needsNewerNode, NODE_VERSION } from './node-release.mjs';
import { SetupError } from './setup-error.mjs';

const SIGNALS = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);

/** @param {string} text */
const say = (text) => void process.stderr.write(`${text}\n`);

/** Returns only if the script should continue on its own Node. */
async function runOnNewerNode() {
  const fetching = new AbortController();
  /** @type {(name: NodeJS.Signals) => unknown} */
  let interrupt = (name) => fetching.abort(new Error(`Interrupted by ${name}.`));
  const onSignal = (/** @type {NodeJS.Signals} */ name) => interrupt(name);
  for (const name of SIGNALS) process.on(name, onSignal);
  onEndOfNpm(() => interrupt('SIGTERM'));

  let binFolder;
  try {
    const runtimeDir = resolve(process.env.RUNTIME_DIR || join(projectRoot, '.runtime'));
    binFolder = await fetchNode(runtimeDir, { onProgress: say, signal: fetching.signal });
  } catch (error) {
    if (fetching.signal.aborted) {
      say(/** @type {Error} */ (fetching.signal.reason).message);
      process.exit(130);
    }
    const { node } = process.versions;
    const { message } = /** @type {Error} */ (error);
    say(
      `Node ${node} is no longer maintained, and Node ${NODE_VERSION} could not be installed (${message}); ` +
        `continuing on ${node}. Install Node 24 to avoid this.`,
    );
    for (const name of SIGNALS) process.off(name, onSignal);
    return;
  }
  say(`Node ${process.versions.node} is no longer maintained; running on Node ${NODE_VERSION} from ${binFolder}`);
  const env = { ...process.env, PATH: `${binFolder}${delimiter}${process.env.PATH ?? ''}` };
  // The child has a session of its own, so that a Ctrl-C at the terminal reaches it only once, through this process.
  const child = spawn(join(binFolder, 'node'), [...process.execArgv, ...process.argv.slice(1)], {
    env,
    detached: true,
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  interrupt = (name) => child.kill(name);
  const [code, signal] = await once(child, 'exit');
  if (signal === null) process.exit(code);
  for (const name of SIGNALS) process.off(name, onSignal);
  process.kill(process.pid, signal);
}

try {
  if (needsNewerNode(process.versions.node)) await runOnNewerNode();
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  say(`${basename(process.argv[1] ?? '', '.mjs')} failed: ${error.message}`);
  process.exit(1);
}

// If runOnNewerNode started this process, a SIGKILL to its parent cannot be passed on, so the end of the parent ends it.
if (process.channel) {
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  process.channel.unref();
}
