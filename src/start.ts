import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { basename, dirname, join } from 'node:path';
import { Script } from 'node:vm';
import { useSourceMap } from './platform/kernel/process/source-map';
import { limitHeapGrowth } from './platform/kernel/process/heap-growth';

// Node 20 has neither of them; the types describe Node 24.
const { enableCompileCache, constants } = nodeModule as {
  enableCompileCache?: (folder?: string) => { status: number };
  constants?: { compileCacheStatus: { DISABLED: number } };
};

/** The build puts the first eight bytes of the SHA-256 of the program's bundle here, in hexadecimal digits. */
declare const BUNDLE_HASH: string;

/** By then a process is ready, and V8 has not yet dropped the compiled code that only its start needed. */
const STARTED_AFTER_MS = 10_000;

/** Length of a SHA-256. */
const HASH_BYTES = 32;

/**
 * Compiling is much of what a start does, so dist/<program>.js runs the program's bundle with what V8 compiled at an earlier
 * start. Node's own compile cache, which the packages outside the bundle use, is not enough for it: of each file it has only
 * what is compiled before its first line runs. The caches are code, so they are kept beside the code and not in a temporary
 * folder that others write to; if nothing can be written there, there are none. NODE_COMPILE_CACHE names another folder for
 * Node's cache, and NODE_DISABLE_COMPILE_CACHE turns off both.
 */
function start(program: string): void {
  const folder = join(__dirname, '.compile-cache');
  // If the environment names a folder, Node has already enabled its cache there, and this call changes nothing.
  const cache = enableCompileCache?.(folder);
  const isDisabled = cache !== undefined && cache.status === constants?.compileCacheStatus.DISABLED;
  const bundle = join(__dirname, 'bundle', program);
  useSourceMap(bundle);
  const content = readFileSync(bundle);
  const { script, writeCache } = isDisabled
    ? { script: compile(bundle, content) }
    : compileWithCache(bundle, content, folder);
  const bundled = new nodeModule.Module(bundle);
  bundled.filename = bundle;
  const run = script.runInThisContext() as (...names: unknown[]) => void;
  run(bundled.exports, nodeModule.createRequire(bundle), bundled, bundle, join(__dirname, 'bundle'));
  setTimeout(() => {
    // The cache is written first, because V8 rejects code that was compiled under other flags than those of the next start.
    writeCache?.();
    limitHeapGrowth();
  }, STARTED_AFTER_MS).unref();
}

/** Wraps the bundle as Node wraps a CommonJS module. Its text is read as Latin-1, because the build makes sure that it is ASCII. */
function compile(bundle: string, content: Buffer, cachedData?: Buffer): Script {
  return new Script(nodeModule.Module.wrap(content.toString('latin1')), { filename: bundle, cachedData });
}

interface CachedScript {
  script: Script;
  /** Absent if the script came from the cache. */
  writeCache?: () => void;
}

/** The cache is named after a hash of the bundle, because V8 itself compares only the bundle's length. */
function compileWithCache(bundle: string, content: Buffer, folder: string): CachedScript {
  const cache = join(folder, `${basename(bundle)}-${BUNDLE_HASH}-${process.version}-${process.arch}`);
  const cachedData = readCache(cache);
  const script = compile(bundle, content, cachedData);
  if (cachedData && !script.cachedDataRejected) return { script };
  let isWritten = false;
  const writeCache = () => {
    if (!isWritten) replaceCache(cache, script.createCachedData());
    isWritten = true;
  };
  process.once('exit', writeCache);
  return { script, writeCache };
}

/**
 * A cache without damage, which begins with its hash: V8 itself looks at no more than the beginning, and would run whatever
 * the rest has become.
 */
function readCache(file: string): Buffer | undefined {
  try {
    const content = readFileSync(file);
    const compiled = content.subarray(HASH_BYTES);
    return sha256(compiled).equals(content.subarray(0, HASH_BYTES)) ? compiled : undefined;
  } catch {
    return undefined;
  }
}

function sha256(content: Buffer): Buffer {
  return createHash('sha256').update(content).digest();
}

/**
 * Replaces the caches that earlier builds and other releases of Node left. Another process may be reading the cache, so the
 * file is complete before it gets its name.
 */
function replaceCache(cache: string, content: Buffer): void {
  const folder = dirname(cache);
  const temporary = `${cache}.${process.pid}`;
  const [program] = basename(cache).split('-');
  try {
    mkdirSync(folder, { recursive: true });
    for (const name of readdirSync(folder))
      if (name.startsWith(`${program}-`)) rmSync(join(folder, name), { force: true });
    // It is on the disk before it gets its name, because a power failure could otherwise leave a part of it.
    writeFileSync(temporary, Buffer.concat([sha256(content), content]), { flush: true });
    renameSync(temporary, cache);
  } catch {
    // Without a cache, the next start only takes longer.
  }
}

start(basename(__filename));
