import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

/**
 * Makes dist/agent/agent.js: the node agent with all it needs in one file, which machines of clouds fetch by its checksum.
 * @param {string} root project folder
 */
export async function bundleAgent(root) {
  const bridges = join(root, 'libs', 'run-bridges');
  const programs = readdirSync(bridges)
    .filter((name) => name.endsWith('.py'))
    .sort()
    .map((name) => [name, readFileSync(join(bridges, name), 'utf8')]);
  await build({
    entryPoints: [join(root, 'libs', 'node-agent', 'main.ts')],
    outfile: join(root, 'dist', 'agent', 'agent.js'),
    absWorkingDir: root,
    bundle: true,
    platform: 'node',
    target: 'node20',
    // A stack trace in a log of a node should name functions.
    minifySyntax: true,
    minifyWhitespace: true,
    keepNames: false,
    define: { RUN_BRIDGES: JSON.stringify(Object.fromEntries(programs)) },
    logLevel: 'warning',
  });
}
