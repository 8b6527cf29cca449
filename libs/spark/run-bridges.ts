import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GeneratedFile } from './scala-repl';

/** Texts of the programs by name, in the agent that is one file. */
declare const RUN_BRIDGES: Readonly<Record<string, string>> | undefined;

const FOLDER = join(__dirname, '..', 'run-bridges');

/** A program of `run-bridges`, in the place of `spark-submit`, which it calls when it begins Spark. */
export interface BridgeCommand {
  argv: string[];
  env: Record<string, string>;
  files: GeneratedFile[];
}

/**
 * The start of a program of `run-bridges`.
 * @param options what `spark-submit` is called with
 */
export function bridgeCommand(
  [name, ...words]: [string, ...string[]],
  options: readonly string[],
  { runtime, paths }: { runtime: { python: string }; paths: { generated: string } },
): BridgeCommand {
  const { program, files } = bridgeFiles(name, paths.generated);
  return {
    argv: [runtime.python, program, ...words],
    // PySpark divides it as a shell would.
    env: { PYSPARK_SUBMIT_ARGS: [...options.map(quoted), 'pyspark-shell'].join(' ') },
    files,
  };
}

/** One of the programs of `run-bridges`, which needs no other. */
export function bridgeProgram(name: string, generated: string): GeneratedFile {
  const content = programs()[name];
  if (content === undefined) throw new Error(`There is no program ${name}.`);
  return { path: `${generated}/bridge/${name}`, content };
}

/** The path of a program of `run-bridges`, and the files that make it up. */
export function bridgeFiles(name: string, generated: string): { program: string; files: GeneratedFile[] } {
  // A run cannot read the agent's own folder from its sandbox.
  const folder = `${generated}/bridge`;
  const files = Object.entries(programs()).map(([file, content]) => ({ path: `${folder}/${file}`, content }));
  return { program: `${folder}/${name}`, files };
}

function programs(): Readonly<Record<string, string>> {
  if (typeof RUN_BRIDGES !== 'undefined') return RUN_BRIDGES;
  const names = readdirSync(FOLDER).filter((name) => name.endsWith('.py'));
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(FOLDER, name), 'utf8')]));
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'"'"'`)}'`;
}
