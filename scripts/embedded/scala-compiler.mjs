import { basename, join } from 'node:path';
import { runCommand } from './processes.mjs';

/**
 * Compiles a Scala source by the compiler that Spark brings along, against the classes of Spark.
 * @param {object} options
 * @param {string} options.sparkHome
 * @param {string} options.javaHome
 * @param {string} options.source
 * @param {string} options.jar file to write
 * @param {string[]} [options.classPath] what else the source is compiled against
 * @param {AbortSignal} options.signal
 * @throws {Error} with what the compiler says
 */
export async function compileScala({ sparkHome, javaHome, source, jar, classPath = [], signal }) {
  const { code, output } = await runCommand(
    join(javaHome, 'bin', 'java'),
    [
      // For one small file, just-in-time compiling the compiler is not worth it.
      ...['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-cp', [join(sparkHome, 'jars', '*'), ...classPath].join(':')],
      ...['scala.tools.nsc.Main', '-usejavacp'],
      ...['-d', jar, source],
    ],
    { signal },
  );
  if (code !== 0) throw new Error(`${basename(source)} does not compile: ${output.trimEnd()}`);
}
