// Builds dist: dist/src and dist/libs, each source compiled on its own; dist/bundle, each program in one file, and its start
// file dist/<program>.js; dist/agent/agent.js, the agent for machines of clouds.
import { fileURLToPath } from 'node:url';
import { dirname } from 'node:path';
import { bundleAgent } from './build/agent.mjs';
import { bundlePrograms } from './build/bundle.mjs';
import { compileSources } from './build/compile.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

await Promise.all([compileSources(root).then(() => bundlePrograms(root)), bundleAgent(root)]);
