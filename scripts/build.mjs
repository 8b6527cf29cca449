// Builds dist:
//   dist/src and dist/libs    each source, compiled on its own
//   dist/bundle               each program in one file
//   dist/<program>.js         the start file, which runs the bundle of the program
//   dist/agent/agent.js       the node agent for cloud machines
//   dist/console              the console, unless it is up to date
// and sdk/typescript/dist, the TypeScript SDK.
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { dirname, join } from 'node:path';
import { bundleAgent } from './build/agent.mjs';
import { bundlePrograms } from './build/bundle.mjs';
import { compileSources } from './build/compile.mjs';
import { buildConsole } from './build/console.mjs';
import { buildSdk } from '../sdk/typescript/build.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

// The stamp names the sources that dist was built from (scripts/embedded/install.mjs), so it is wrong from here on.
rmSync(join(root, 'dist', '.build-sha'), { force: true });
await Promise.all([
  compileSources(root).then(() => bundlePrograms(root)),
  bundleAgent(root),
  buildSdk(),
  buildConsole(root),
]);
