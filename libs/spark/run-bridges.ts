import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GeneratedFile } from './scala-repl';

/** Texts of the programs by name. The bundled agent, a single file, has them built in. */
declare const RUN_BRIDGES: Readonly<Record<string, string>> | undefined;

const FOLDER = join(__dirname, '..', 'run-bridges');

/** A program of `run-bridges`, which takes the place of `spark-submit` and calls it to start Spark. */
export interface BridgeCommand {
  argv: string[];
  env: Record<string, string>;
  files: GeneratedFile[];
}

/**
 * Returns the command that starts a program of `run-bridges`.
 * @param options the options of `spark-submit`
 */
export function bridgeCommand(
  [name, ...words]: [string, ...string[]],
  options: readonly string[],
  { runtime, paths }: { runtime: { python: string }; paths: { generated: string } },
): BridgeCommand {
  const { program, files } = bridgeFiles(name, paths.generated);
  return {
    argv: [runtime.python, program, ...words],
    // PySpark splits it like a shell.
    env: { PYSPARK_SUBMIT_ARGS: [...options.map(quoted), 'pyspark-shell'].join(' ') },
    files,
  };
}

/** Returns one program of `run-bridges` that imports none of the others. */
export function bridgeProgram(name: string, generated: string): GeneratedFile {
  const content = programs()[name];
  if (content === undefined) throw new Error(`There is no program ${name}.`);
  return { path: `${generated}/bridge/${name}`, content };
}

/** Returns the path of a program of `run-bridges`, and the files that make it up. */
export function bridgeFiles(name: string, generated: string): { program: string; files: GeneratedFile[] } {
  // A run cannot read the agent's own folder from its sandbox.
  const folder = `${generated}/bridge`;
  const files = Object.entries(programs()).map(([file, content]) => ({ path: `${folder}/${file}`, content }));
  return { program: `${folder}/${name}`, files };
}

/** Returns the program that the others start Spark's JVM with instead of `spark-submit`. */
export function bridgeSubmit(generated: string, content: string): GeneratedFile {
  return { path: `${generated}/bridge/spark-submit`, content, isProgram: true };
}

function programs(): Readonly<Record<string, string>> {
  if (typeof RUN_BRIDGES !== 'undefined') return RUN_BRIDGES;
  const names = readdirSync(FOLDER).filter((name) => name.endsWith('.py'));
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(FOLDER, name), 'utf8')]));
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'"'"'`)}'`;
}
