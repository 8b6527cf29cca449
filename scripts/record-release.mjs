#!/usr/bin/env node
// Records the messages between the agent and the control plane of a release, and the rows of its running cluster, so that
// tests check later releases against them; see test/fixtures/releases/README.md.
import './embedded/newer-node.mjs';
import { mkdirSync, writeFileSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { runDemo } from './demo/demo.mjs';
import { login } from './demo/session.mjs';
import { ensureBuild, ensureDependencies, projectRoot } from './embedded/install.mjs';
import { abortedByInterruption } from './embedded/interruption.mjs';
import { withOwnServices } from './embedded/own-services.mjs';
import { startPlatform } from './embedded/platform.mjs';
import { freePort } from './embedded/ports.mjs';
import { prepareRuntime } from './embedded/runtime.mjs';

import { AgentRecorder } from './recording/agent-recorder.mjs';
import { recordRows } from './recording/recorded-rows.mjs';

const HELP = `Usage: node scripts/record-release.mjs <name> [--root=<folder>]

Starts a platform of its own, runs the demo on it (a job, a notebook, a function) and writes to test/fixtures/releases/<name>
what its agent and its API said to each other, and the rows of its running cluster.

  --root=<folder>   the built sources of the release, with node_modules; this project by default
`;

/** @returns {Promise<number>} status */
async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { root: { type: 'string' }, help: { type: 'boolean', default: false } },
  });
  const [name] = positionals;
  if (values.help || name === undefined || !/^[a-z0-9.-]+$/.test(name)) {
    process.stdout.write(HELP);
    return values.help ? 0 : 2;
  }
  const { signal } = abortedByInterruption();
  /** @param {string} text */
  const print = (text) => console.log(text);
  const root = resolve(values.root ?? projectRoot);
  const install = { onProgress: print, signal };
  await ensureDependencies(install);
  if (values.root === undefined) await ensureBuild(install);
  const { DATABASE_URL: _database, REDIS_URL: _redis, ...env } = process.env;
  const runtime = await prepareRuntime(resolve(process.env.RUNTIME_DIR || '.runtime'), { ...install, env });
  return withOwnServices({ prefix: 'recording-', runtime, print, signal }, (services) =>
    record({ name, root, runtime, services, print, signal }),
  );
}

/**
 * @param {object} options
 * @param {string} options.name
 * @param {string} options.root
 * @param {import('./embedded/runtime.mjs').Runtime} options.runtime
 * @param {import('./embedded/own-services.mjs').OwnServices} options.services
 * @param {(text: string) => void} options.print
 * @param {AbortSignal} options.signal
 * @returns {Promise<number>} status
 */
async function record({ name, root, runtime, services: { folder, databaseUrl, redisUrl }, print, signal }) {
  /** @type {(() => Promise<unknown>)[]} */
  const undo = [];
  try {
    const recorder = await AgentRecorder.listen();
    undo.push(() => recorder.close());
    const platform = await startPlatform({
      runtimeDir: folder,
      databaseUrl,
      redisUrl,
      runtime,
      port: await freePort(),
      env: { PRODUCT_NAME: 'PLATFORM', AGENT_API_URL: recorder.url },
      onEvent: print,
      signal,
      root,
    });
    undo.push(() => platform.stop());
    recorder.forwardTo(platform.agentsUrl);
    const session = await login({ ...platform, signal });
    const result = await runDemo({ session, folder, sparkVersion: runtime.sparkVersion, print, signal });
    if (!result.ok) throw new Error(`The demo had an unexpected result: ${JSON.stringify(result)}`);
    const target = join(projectRoot, 'test', 'fixtures', 'releases', name);
    mkdirSync(target, { recursive: true });
    /** Texts that would identify this machine, and their replacements. @type {[string, string][]} */
    const places = [
      [folder, '/platform'],
      [runtime.sparkHome, '/spark'],
      [runtime.javaHome, '/java'],
      [runtime.python, '/python'],
      [root, '/release'],
      [projectRoot, '/project'],
      [hostname(), 'host'],
      [userInfo().username, 'user'],
    ];
    /** @param {string} file @param {unknown[]} entries one per line */
    const write = (file, entries) => {
      const text = `[\n${entries.map((entry) => `  ${JSON.stringify(entry)}`).join(',\n')}\n]\n`;
      writeFileSync(
        join(target, file),
        places.reduce((redacted, [place, word]) => redacted.replaceAll(place, word), text),
      );
    };
    write('exchanges.json', recorder.exchanges());
    write('rows.json', await recordRows(databaseUrl, result.clusterId));
    print(`Written to ${target}: read it before it is committed.`);
    return 0;
  } finally {
    for (const action of undo.reverse())
      await action().catch((/** @type {Error} */ error) => print(`Stopping failed: ${error.message}`));
  }
}

process.exitCode = await main();
