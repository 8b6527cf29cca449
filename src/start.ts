import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { basename, dirname, join } from 'node:path';
import { Script } from 'node:vm';
import { nameSourceLines } from './platform/process/source-lines';
import { keepHeapSteady } from './platform/process/steady-heap';

// Node 20 has none; the types are its.
const { enableCompileCache, constants } = nodeModule as {
  enableCompileCache?: (folder?: string) => { status: number };
  constants?: { compileCacheStatus: { DISABLED: number } };
};

/** By then a process is ready, and V8 has not yet dropped the compiled code that only its start needed. */
const KEEP_AFTER_MS = 10_000;

/**
 * Runs the bundle of a program for dist/<program>.js, with what V8 compiled at an earlier start, because compiling
 * is much of what a start does. Node's own cache, which packages beside the bundle have, holds of a file only what is compiled before its
 * first line runs. The caches are code, so they lie beside the code and not in a temporary folder that others write to;
 * where nothing can be written, there are none. NODE_COMPILE_CACHE names another folder for Node's, and
 * NODE_DISABLE_COMPILE_CACHE does without both.
 */
function start(program: string): void {
  // First of all: V8 takes no code that was compiled under other flags.
  keepHeapSteady();
  const folder = join(__dirname, '.compile-cache');
  // It has been enabled before where the environment names a folder, and stays as it is.
  const cache = enableCompileCache?.(folder);
  const isDisabled = cache !== undefined && cache.status === constants?.compileCacheStatus.DISABLED;
  const bundle = join(__dirname, 'bundle', program);
  nameSourceLines(bundle);
  const content = readFileSync(bundle);
  const script = isDisabled ? compile(bundle, content) : compileWithCache(bundle, content, folder);
  const bundled = new nodeModule.Module(bundle);
  bundled.filename = bundle;
  const run = script.runInThisContext() as (...names: unknown[]) => void;
  run(bundled.exports, nodeModule.createRequire(bundle), bundled, bundle, join(__dirname, 'bundle'));
}

/** As Node wraps a module of CommonJS, whose text has no characters but those of ASCII. */
function compile(bundle: string, content: Buffer, cachedData?: Buffer): Script {
  return new Script(nodeModule.Module.wrap(content.toString('latin1')), { filename: bundle, cachedData });
}

/** The cache is named after the bundle's content: V8 itself compares no more than its length. */
function compileWithCache(bundle: string, content: Buffer, folder: string): Script {
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 16);
  const cache = join(folder, `${basename(bundle)}-${hash}-${process.version}-${process.arch}`);
  const cachedData = contentOf(cache);
  const script = compile(bundle, content, cachedData);
  if (!cachedData || script.cachedDataRejected) {
    let isKept = false;
    const keep = () => {
      if (!isKept) keepInstead(cache, script.createCachedData());
      isKept = true;
    };
    setTimeout(keep, KEEP_AFTER_MS).unref();
    process.once('exit', keep);
  }
  return script;
}

function contentOf(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}

/** Whole or not at all, since another process may be reading, and in place of what earlier builds and releases of Node left. */
function keepInstead(cache: string, content: Buffer): void {
  const folder = dirname(cache);
  const unfinished = `${cache}.${process.pid}`;
  const [program] = basename(cache).split('-');
  try {
    mkdirSync(folder, { recursive: true });
    for (const name of readdirSync(folder))
      if (name.startsWith(`${program}-`)) rmSync(join(folder, name), { force: true });
    writeFileSync(unfinished, content);
    renameSync(unfinished, cache);
  } catch {
    // The next start compiles, too.
  }
}

start(basename(__filename));
