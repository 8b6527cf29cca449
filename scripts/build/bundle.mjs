import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { decode, encode } from '@jridgewell/sourcemap-codec';
import { build } from 'esbuild';

/** @type {import('esbuild').BuildOptions} */
const NODE = { bundle: true, platform: 'node', format: 'cjs', target: 'node20', logLevel: 'warning' };

/** Programs, by what they are called in dist, with their source below src. */
export const PROGRAMS = {
  api: 'main',
  worker: 'worker',
  migrate: 'migrate',
  openapi: 'openapi',
  billing: 'billing',
  'rewrap-secrets': 'rewrap-secrets',
};

/** Packages that are loaded from node_modules. */
const EXTERNAL = [
  // Large libraries of clouds, which are loaded when the first request needs them.
  '@aws-sdk/*',
  '@azure/*',
  '@google-cloud/*',
  '@googleapis/*',
  'google-auth-library',
  'oci-*',
  'thrift',
  // With native parts.
  '@node-rs/argon2',
  'koffi',
  'msgpackr-extract',
  // Found by their path.
  'hyparquet',
  'swagger-ui-dist',
  // Not installed: Nest would load them for what is not used here.
  '@fastify/static',
  '@nestjs/microservices',
  '@nestjs/websockets',
  'class-transformer/storage',
];

/**
 * Makes each program of what compileSources made: dist/bundle/<program>.js with all that it needs but packages of EXTERNAL, and
 * dist/<program>.js, which starts it.
 * @param {string} root project folder
 */
export async function bundlePrograms(root) {
  const outdir = join(root, 'dist', 'bundle');
  const compiled = join(root, 'dist', 'src');
  await build({
    ...NODE,
    absWorkingDir: root,
    entryPoints: Object.entries(PROGRAMS).map(([out, entry]) => ({ out, in: join(compiled, `${entry}.js`) })),
    outdir,
    minifySyntax: true,
    minifyWhitespace: true,
    // Classes are known by their names: to TypeORM, to Nest and in openapi.json. esbuild renames those that collide.
    keepNames: true,
    sourcemap: 'linked',
    sourcesContent: false,
    external: EXTERNAL,
    define: { 'import.meta.url': '__bundleUrl' },
    // A script that comes from a cache has no loader of modules.
    supported: { 'dynamic-import': false },
    banner: { js: 'const __bundleDir=__dirname,__bundleUrl=require("node:url").pathToFileURL(__filename).href;' },
    plugins: [ownFolders(outdir), packages],
  });
  await Promise.all([
    ...Object.keys(PROGRAMS).map((program) => shortenMap(join(outdir, `${program}.js.map`))),
    build({
      ...NODE,
      absWorkingDir: root,
      entryPoints: Object.keys(PROGRAMS).map((out) => ({ out, in: join(compiled, 'start.js') })),
      outdir: join(root, 'dist'),
    }),
  ]);
}

/**
 * Compiled sources read files beside themselves (assets, package.json): they still find them there.
 * @param {string} outdir folder of the bundles
 * @returns {import('esbuild').Plugin}
 */
function ownFolders(outdir) {
  return {
    name: 'own-folders',
    setup(bundling) {
      bundling.onLoad({ filter: /\/dist\/(src|libs)\/.*\.js$/ }, async ({ path }) => {
        const text = await readFile(path, 'utf8');
        if (!/\b__dirname\b/.test(text)) return null;
        const folder = JSON.stringify(relative(outdir, dirname(path)));
        const own = `"use strict"; const __dirname = require("node:path").join(__bundleDir, ${folder});`;
        return { contents: text.replace('"use strict";', own), loader: 'js' };
      });
    },
  };
}

/** @type {import('esbuild').Plugin} */
const packages = {
  name: 'packages',
  setup(bundling) {
    bundling.onLoad({ filter: /\/node_modules\/.*\.[cm]?js$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      const contents = text
        // Lines of a package are those of the files that it ships.
        .replace(/\/\/[#@] sourceMappingURL=.*/g, '')
        // Would load a second copy of class-validator, which esbuild cannot see (in @nestjs/mapped-types).
        .replace('const require = createRequire(import.meta.url);', '');
      return { contents, loader: 'js' };
    });
  },
};

/**
 * Leaves in a map where each line of a source begins, and nothing of columns and names: the running program reads it whole when it
 * writes its first stack trace.
 * @param {string} file
 */
async function shortenMap(file) {
  const { version, sources, mappings } = JSON.parse(await readFile(file, 'utf8'));
  /** @type {import('@jridgewell/sourcemap-codec').SourceMapMappings} */
  const lines = decode(mappings).map((segments) => {
    /** @type {import('@jridgewell/sourcemap-codec').SourceMapLine} */
    const kept = [];
    for (const segment of segments) {
      const last = kept.at(-1);
      if (last?.length === segment.length && last[1] === segment[1] && last[2] === segment[2]) continue;
      kept.push(segment.length === 1 ? segment : [segment[0], segment[1], segment[2], 0]);
    }
    return kept;
  });
  await writeFile(file, JSON.stringify({ version, sources, names: [], mappings: encode(lines) }));
}
