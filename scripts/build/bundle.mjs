import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { decode, encode } from '@jridgewell/sourcemap-codec';
import { build } from 'esbuild';

/** @type {import('esbuild').BuildOptions} */
const NODE = { bundle: true, platform: 'node', format: 'cjs', target: 'node20', logLevel: 'warning' };

/** Maps the name of each program in dist to that of its source in src. */
export const PROGRAMS = {
  api: 'main',
  worker: 'worker',
  migrate: 'migrate',
  openapi: 'openapi',
  billing: 'billing',
  'rewrap-secrets': 'rewrap-secrets',
};

/** These packages are not bundled but loaded from node_modules. */
const EXTERNAL = [
  // Cloud SDKs are large, so each is loaded when a request first needs it.
  '@aws-sdk/*',
  '@azure/*',
  '@google-cloud/*',
  '@googleapis/*',
  'google-auth-library',
  'oci-*',
  'thrift',
  // These have native parts.
  '@node-rs/argon2',
  'koffi',
  'msgpackr-extract',
  // These are found by their path.
  'hyparquet',
  'swagger-ui-dist',
  // These are not installed: Nest would load them only for features that are not used here.
  '@fastify/static',
  '@nestjs/microservices',
  '@nestjs/websockets',
  'class-transformer/storage',
];

/**
 * Bundles each program from the output of compileSources: dist/bundle/<program>.js has everything that it needs except the
 * packages in EXTERNAL, and dist/<program>.js starts it.
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
    // TypeORM, Nest and openapi.json identify classes by name, and esbuild renames those that collide.
    keepNames: true,
    // Node prints the line of an error that nobody handles.
    lineLimit: 500,
    sourcemap: 'linked',
    sourcesContent: false,
    external: EXTERNAL,
    define: { 'import.meta.url': '__bundleUrl' },
    // The start file runs the bundle as a script, which cannot load modules by import(); esbuild uses require() instead.
    supported: { 'dynamic-import': false },
    banner: {
      js: `const __bundleDir=__dirname,__bundleUrl=require("node:url").pathToFileURL(__filename).href;${CACHED_COPY}`,
    },
    plugins: [listSources(compiled), keepDirnames(outdir), patchPackages],
  });
  await Promise.all([
    ...Object.keys(PROGRAMS).map((program) => finishBundle(join(outdir, `${program}.js`))),
    ...Object.keys(PROGRAMS).map((program) => shortenMap(join(outdir, `${program}.js.map`))),
    ...Object.keys(PROGRAMS).map((program) => bundleStart(join(compiled, 'start.js'), join(root, 'dist'), program)),
  ]);
}

/**
 * Makes <dist>/<program>.js, which starts the bundle of the program and knows its hash: a start would need as long to hash a bundle as
 * to read it.
 * @param {string} start the compiled or uncompiled src/start.ts
 * @param {string} dist
 * @param {string} program
 */
export async function bundleStart(start, dist, program) {
  const bundle = await readFile(join(dist, 'bundle', `${program}.js`));
  await build({
    ...NODE,
    entryPoints: [start],
    outfile: join(dist, `${program}.js`),
    define: { BUNDLE_HASH: JSON.stringify(createHash('sha256').update(bundle).digest('hex').slice(0, 16)) },
  });
}

/** Entities and migrations, which the compiled sources find in their folders. */
const LISTED = /\.entity\.js$|\/migrations\/\d+-.+\.js$/;

/**
 * A bundle has no folders, so a list stands in for `src/database/source-exports.ts`.
 * @param {string} compiled folder of the compiled sources
 * @returns {import('esbuild').Plugin}
 */
function listSources(compiled) {
  return {
    name: 'list-sources',
    setup(bundling) {
      bundling.onLoad({ filter: /\/source-exports\.js$/ }, async ({ path }) => {
        const files = (await readdir(compiled, { recursive: true })).filter((file) => LISTED.test(file)).sort();
        const entries = files.map((file) => {
          const source = JSON.stringify(`./${relative(dirname(path), join(compiled, file))}`);
          return `[${JSON.stringify(file)}, () => require(${source})],`;
        });
        const contents = `const sources = [
${entries.join('\n')}
];
exports.sourceExports = (paths) =>
  sources.filter(([path]) => paths.test(path)).flatMap(([, load]) => Object.values(load()));`;
        return { contents, loader: 'js' };
      });
    },
  };
}

/**
 * The compiler describes parameters with types of Express by the globals of the same names. To look at one makes Node load its client
 * of HTTP, which takes 40 ms, and Nest needs neither.
 */
const EXPRESS_TYPE = /typeof (Request|Response) === "undefined" \? Object : \1\b/g;

/**
 * Compiled sources read files by paths from their own folder (assets, package.json), so `__dirname` in a bundle is still the
 * folder of the compiled source.
 * @param {string} outdir folder of the bundles
 * @returns {import('esbuild').Plugin}
 */
function keepDirnames(outdir) {
  return {
    name: 'keep-dirnames',
    setup(bundling) {
      bundling.onLoad({ filter: /\/dist\/(src|libs)\/.*\.js$/ }, async ({ path }) => {
        const text = asciiOf(await readFile(path, 'utf8'), path).replace(EXPRESS_TYPE, 'Object');
        if (!/\b__dirname\b/.test(text)) return { contents: text, loader: 'js' };
        const folder = JSON.stringify(relative(outdir, dirname(path)));
        const declared = `"use strict"; const __dirname = require("node:path").join(__bundleDir, ${folder});`;
        return { contents: text.replace('"use strict";', declared), loader: 'js' };
      });
    },
  };
}

/**
 * For each `require()` of an ES module, esbuild's helper makes a new object with a getter for each export, and hundreds of files require
 * Nest. This one keeps the object, as Node does, and makes another only if the module has further exports by then, as in a cycle.
 */
const CACHED_COPY = `const __copies=new WeakMap,__copyOf=(module,copy)=>{
const count=Object.keys(module).length;let kept=__copies.get(module);
if(kept?.count!==count)__copies.set(module,kept={count,exports:copy(Object.defineProperty({},"__esModule",{value:true}),module)});
return kept.exports};`;
const UNCACHED_COPY = '__copyProps(__defProp({},"__esModule",{value:!0}),mod)';

/** `keepNames` also names functions and classes again that kept their names: `__name(run,"run")`, `Run=class{static{__name(this,"Run")}}`. */
const NAMED_ALREADY = /** @type {[RegExp, string][]} */ ([
  [/__name\(([\w$]+),"\1"\)/g, '$1'],
  [/(\b([\w$]+)=class(?: extends [\w$.]+)?\{)static\{__name\(this,"\2"\)\}/g, '$1'],
  [/(\bclass ([\w$]+)(?: extends [\w$.]+)?\{)static\{__name\(this,"\2"\)\}/g, '$1'],
]);

/**
 * Removes work that a start of the bundle does not need. Blanks fill what goes, because the source map names columns.
 * @param {string} file
 */
async function finishBundle(file) {
  const bundle = await readFile(file, 'latin1');
  assertAscii(file, bundle);
  if (!bundle.includes(UNCACHED_COPY))
    throw new Error(`${file}: esbuild copies the exports of ES modules in another way.`);
  let finished = bundle.replace(UNCACHED_COPY, () => '__copyOf(mod,__copyProps)'.padEnd(UNCACHED_COPY.length));
  for (const [pattern, kept] of NAMED_ALREADY) {
    finished = finished.replace(pattern, (text) => text.replace(pattern, kept).padEnd(text.length));
  }
  await writeFile(file, finished, 'latin1');
}

/**
 * Packages make some things as they are loaded that the platform does not use: formatters of dates (20 ms each) for Nest's own loggers,
 * the telephone numbers of all countries (30 ms) for class-validator. `lazy` makes them when they are first used.
 */
const LAZY_PARTS = [
  {
    path: /\/@nestjs\/common\/services\/(?:console-)?logger\.service\.js$/,
    eager: /const dateTimeFormatter = (new Intl\.DateTimeFormat\(undefined, \{[^}]*\}\));/,
    lazy: 'let dateFormat; const dateTimeFormatter = { format: (date) => (dateFormat ??= $1).format(date) };',
  },
  {
    path: /\/class-validator\/cjs\/decorator\/string\/IsPhoneNumber\.js$/,
    eager: /const max_1 = (require\("libphonenumber-js\/max"\));/,
    lazy: 'const max_1 = { get parsePhoneNumber() { return $1.parsePhoneNumber; } };',
  },
];

/** @type {import('esbuild').Plugin} */
const patchPackages = {
  name: 'patch-packages',
  setup(bundling) {
    bundling.onLoad({ filter: /\/node_modules\/.*\.[cm]?js$/ }, async ({ path }) => {
      let contents = asciiOf(await readFile(path, 'utf8'), path)
        // Stack traces should name lines of the files that a package ships, not of sources that it does not ship.
        .replace(/\/\/[#@] sourceMappingURL=.*/g, '')
        // esbuild cannot follow this `require` of @nestjs/mapped-types, which would load a second copy of class-validator.
        .replace('const require = createRequire(import.meta.url);', '');
      for (const part of LAZY_PARTS.filter(({ path: paths }) => paths.test(path))) {
        if (!part.eager.test(contents)) throw new Error(`${path} no longer matches ${part.eager}.`);
        contents = contents.replace(part.eager, part.lazy);
      }
      return { contents, loader: 'js' };
    });
  },
};

/**
 * The start file reads a bundle as Latin-1, but esbuild leaves non-ASCII characters in regular expressions.
 * @param {string} source
 * @param {string} path
 * @returns {string} the source with escapes in place of these characters
 */
function asciiOf(source, path) {
  if (/^\p{ASCII}*$/u.test(source)) return source;
  // String.raw would keep the escape instead of reading it.
  if (/String\.raw`[^`]*\P{ASCII}/u.test(source)) throw new Error(`${path}: a text of String.raw must be ASCII.`);
  return source.replace(/^\ufeff/, '').replace(/(\\*)(\P{ASCII})/gu, (_, backslashes, character) => {
    const units = Array.from({ length: character.length }, (_unit, index) => character.charCodeAt(index));
    const escaped = units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
    return (backslashes.length % 2 === 1 ? backslashes.slice(1) : backslashes) + escaped;
  });
}

/**
 * The running program reads the whole source map for its first stack trace, so this keeps only where each line of a source
 * begins, and drops columns and names.
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

/** @param {string} file @param {string} bundle as Latin-1 */
function assertAscii(file, bundle) {
  const at = bundle.search(/\P{ASCII}/u);
  if (at >= 0) throw new Error(`${file}: byte ${at} is not ASCII, so the program would read another text.`);
}
