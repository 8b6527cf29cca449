import { basename, join } from 'node:path';
import { runCommand } from './processes.mjs';
import { QUICK_JAVA } from './quick-java.mjs';

/**
 * Compiles Scala sources with the compiler that Spark ships, against the classes of Spark. Several sources at once cost little more
 * than one, because the compiler's own start takes most of the time.
 * @param {object} options
 * @param {string} options.sparkHome
 * @param {string} options.javaHome
 * @param {string[]} options.sources
 * @param {string} options.target jar to write, or an existing folder for the classes
 * @param {string[]} [options.classPath] further classes that the sources are compiled against
 * @param {AbortSignal} options.signal
 * @throws {Error} with the messages of the compiler
 */
export async function compileScala({ sparkHome, javaHome, sources, target, classPath = [], signal }) {
  const { code, output } = await runCommand(
    join(javaHome, 'bin', 'java'),
    [
      ...[...QUICK_JAVA, '-cp', [join(sparkHome, 'jars', '*'), ...classPath].join(':')],
      ...['scala.tools.nsc.Main', '-usejavacp'],
      ...['-d', target, ...sources],
    ],
    { signal },
  );
  if (code !== 0) {
    const names = sources.map((source) => basename(source)).join(', ');
    throw new Error(`Compiling ${names} failed: ${output.trimEnd()}`);
  }
}
