#!/usr/bin/env node
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { withDeadline } from '../embedded/deadline.mjs';
import { runCommand } from '../embedded/processes.mjs';
import { QUICK_JAVA } from '../embedded/quick-java.mjs';

const execFileAsync = promisify(execFile);

/** The first Java that can archive application classes, lambdas included, without commercial flags. */
export const OLDEST_JAVA = 17;
/** Rises when archives are made in another way, so that those of earlier releases are replaced. */
export const ARCHIVE_FORM = 2;
const DEADLINE_MS = 5 * 60_000;
const TRAINING = fileURLToPath(new URL('training.py', import.meta.url));

/**
 * Makes an archive of the classes that Spark loads (JVM class data sharing, JEP 350): a JVM that starts from it maps them
 * into memory instead of reading, checking and linking some 16,000 classes from jars. The driver of a small job writes it
 * when it ends, and loads what only its executor has loaded before. A JVM whose archive is missing, or was made from
 * other jars, continues without it.
 * @param {object} options
 * @param {string} options.sparkHome as the nodes will name it: the archive is valid for this class path only
 * @param {string} options.javaHome Java 17 or newer
 * @param {string} options.python
 * @param {string} options.target file to write, 160 to 200 MB; complete or not at all
 * @param {AbortSignal} [options.signal]
 * @throws {Error} with the last output if a step fails or takes longer than five minutes
 */
export async function makeClassArchive({ sparkHome, javaHome, python, target, signal }) {
  mkdirSync(dirname(target), { recursive: true });
  const folder = mkdtempSync(`${target}.`);
  const limit = withDeadline(DEADLINE_MS, signal);
  const home = join(folder, 'spark-home');
  try {
    // The local cluster keeps its work folder in Spark's home, which this user may not be able to write to.
    mkdirSync(home);
    for (const name of readdirSync(sparkHome)) {
      if (name !== 'work') symlinkSync(join(sparkHome, name), join(home, name));
    }
    const archive = join(folder, 'classes.jsa');
    const lists = ['driver', 'executor'].map((name) => join(folder, `${name}.classes`));
    const [driverJava, executorJava] = lists.map((list) =>
      [`-XX:DumpLoadedClassList=${list}`, ...QUICK_JAVA].join(' '),
    );
    const env = {
      PATH: [dirname(python), join(javaHome, 'bin'), '/usr/local/bin', '/usr/bin', '/bin'].join(':'),
      HOME: folder,
      TMPDIR: folder,
      LANG: 'C.UTF-8',
      JAVA_HOME: javaHome,
      // Without a version the launcher looks for the folders of a build of Spark; in an installed one it does not matter.
      SPARK_SCALA_VERSION: '2.13',
      PYSPARK_PYTHON: python,
      SPARK_LOCAL_IP: '127.0.0.1',
      SPARK_LOCAL_DIRS: folder,
    };
    const submission = [
      ...['--master', 'local-cluster[1,1,1024]', '--driver-memory', '512m', '--executor-memory', '512m'],
      ...[
        '--conf',
        `spark.driver.defaultJavaOptions=-XX:ArchiveClassesAtExit=${archive} -Xlog:cds=off,cds+dynamic=off ${driverJava}`,
      ],
      ...['--conf', `spark.executor.defaultJavaOptions=${executorJava}`],
      ...['--conf', 'spark.ui.showConsoleProgress=false'],
      ...[TRAINING, ...lists],
    ];
    // Spark's launcher names the class path by its home, and the local cluster its work folder: here they differ.
    const launcher = ['-Xmx128m', '-cp', `${sparkHome}/jars/*`, 'org.apache.spark.launcher.Main'];
    const { stdout } = await execFileAsync(
      join(javaHome, 'bin', 'java'),
      [...launcher, 'org.apache.spark.deploy.SparkSubmit', ...submission],
      { cwd: folder, env: { ...env, SPARK_HOME: sparkHome }, signal: limit },
    );
    const [java, ...args] = stdout
      .trim()
      .replace(/^\0\s*/, '')
      .split('\0')
      .slice(0, -1);
    const options = { cwd: folder, env: { ...env, SPARK_HOME: home }, signal: limit };
    const { code, output } = await runCommand(String(java), args, options);
    if (code !== 0 || !existsSync(archive))
      throw new Error(
        `${java} ended with ${code} and wrote no archive of Spark's classes. If its own archive, lib/server/classes.jsa, is missing, ` +
          `make that with "java -Xshare:dump".\n${output.slice(-4_000)}`,
      );
    renameSync(archive, target);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

// For images: class-archive.mjs SPARK_HOME JAVA_HOME PYTHON TARGET
if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const [sparkHome, javaHome, python, target] = process.argv.slice(2);
  if (!sparkHome || !javaHome || !python || !target) {
    console.error('Usage: class-archive.mjs SPARK_HOME JAVA_HOME PYTHON TARGET');
    process.exit(2);
  }
  await makeClassArchive({ sparkHome, javaHome, python, target: resolve(target) });
}
