// Imported before all else by the scripts that run the platform or its tests. Under a Node that is no longer maintained it
// fetches a newer one, runs the script again by that, and ends as that ends; the rest of the script does not run here.
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

/** Returns where the script is to go on under this Node. */
async function runByNewerNode() {
  const fetching = new AbortController();
  /** @type {(name: NodeJS.Signals) => unknown} */
  let interrupt = (name) => fetching.abort(new Error(`Interrupted by ${name}.`));
  const onSignal = (/** @type {NodeJS.Signals} */ name) => interrupt(name);
  for (const name of SIGNALS) process.on(name, onSignal);
  onEndOfNpm(() => interrupt('SIGTERM'));

  let programs;
  try {
    const runtimeDir = resolve(process.env.RUNTIME_DIR || join(projectRoot, '.runtime'));
    programs = await fetchNode(runtimeDir, { onProgress: say, signal: fetching.signal });
  } catch (error) {
    if (fetching.signal.aborted) {
      say(/** @type {Error} */ (fetching.signal.reason).message);
      process.exit(130);
    }
    const { node } = process.versions;
    const { message } = /** @type {Error} */ (error);
    say(
      `Node ${node} is too old to be maintained, and Node ${NODE_VERSION} cannot be had (${message}); going on with ${node}`,
    );
    for (const name of SIGNALS) process.off(name, onSignal);
    return;
  }
  say(`Node ${process.versions.node} is too old to be maintained; running on Node ${NODE_VERSION} from ${programs}`);
  const env = { ...process.env, PATH: `${programs}${delimiter}${process.env.PATH ?? ''}` };
  // In a session of its own, so that it gets a Ctrl-C at the terminal from here only, and once.
  const child = spawn(join(programs, 'node'), [...process.execArgv, ...process.argv.slice(1)], {
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
  if (needsNewerNode(process.versions.node)) await runByNewerNode();
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  say(`${basename(process.argv[1] ?? '', '.mjs')} failed: ${error.message}`);
  process.exit(1);
}

// Started by the above: whoever kills that without a chance to pass it on means this.
if (process.channel) {
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  process.channel.unref();
}
