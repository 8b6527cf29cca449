import { basename, join } from 'node:path';
import { runCommand } from './processes.mjs';

/**
 * Compiles a Scala source with the compiler that Spark ships, against the classes of Spark.
 * @param {object} options
 * @param {string} options.sparkHome
 * @param {string} options.javaHome
 * @param {string} options.source
 * @param {string} options.jar file to write
 * @param {string[]} [options.classPath] further classes that the source is compiled against
 * @param {AbortSignal} options.signal
 * @throws {Error} with the messages of the compiler
 */
export async function compileScala({ sparkHome, javaHome, source, jar, classPath = [], signal }) {
  const { code, output } = await runCommand(
    join(javaHome, 'bin', 'java'),
    [
      // Just-in-time compilation of the compiler does not pay off for one small file.
      ...['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-cp', [join(sparkHome, 'jars', '*'), ...classPath].join(':')],
      ...['scala.tools.nsc.Main', '-usejavacp'],
      ...['-d', jar, source],
    ],
    { signal },
  );
  if (code !== 0) throw new Error(`${basename(source)} does not compile: ${output.trimEnd()}`);
}
