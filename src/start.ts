import * as nodeModule from 'node:module';
import { basename, join } from 'node:path';
import { nameSourceLines } from './platform/process/source-lines';

// Node 20 has none; the types are its.
const { enableCompileCache } = nodeModule as { enableCompileCache?: (folder?: string) => unknown };

/**
 * Loads the bundle of a program for dist/<program>.js, with what V8 compiled at an earlier start. The cache is code, so it
 * lies beside the code and not in a temporary folder that others write to; where nothing can be written, there is none.
 * NODE_COMPILE_CACHE names another folder, NODE_DISABLE_COMPILE_CACHE does without; both are Node's.
 */
function start(program: string): void {
  // It has been enabled before where the environment names a folder, and stays as it is.
  enableCompileCache?.(join(__dirname, '.compile-cache'));
  const bundle = join(__dirname, 'bundle', program);
  nameSourceLines(bundle);
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- not before the cache is there
  require(bundle);
}

start(basename(__filename));
