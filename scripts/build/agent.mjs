import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

/**
 * Builds dist/agent/agent.js, the node agent with all its dependencies in one file. Cloud machines download it and verify its
 * checksum.
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
    // Stack traces in a node's log should show the names of functions, so names are not minified.
    minifySyntax: true,
    minifyWhitespace: true,
    keepNames: false,
    define: { RUN_BRIDGES: JSON.stringify(Object.fromEntries(programs)) },
    logLevel: 'warning',
  });
}
