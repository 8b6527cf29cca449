#!/usr/bin/env node
import { spawn } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withDeadline } from '../embedded/deadline.mjs';
import { QUICK_JAVA } from '../embedded/quick-java.mjs';

/** The first Java that can archive application classes, lambdas included, without commercial flags. */
export const OLDEST_JAVA = 17;
const DEADLINE_MS = 5 * 60_000;
const TRAINING = fileURLToPath(new URL('training.py', import.meta.url));

/**
 * Makes an archive of the classes that Spark loads (JVM class data sharing, JEP 310): a JVM that starts from it maps them
 * into memory instead of reading, checking and linking some 16,000 classes from jars. A small job with a driver and an
 * executor shows which classes these are. A JVM whose archive is missing, or was made from other jars, continues without it.
 * @param {object} options
 * @param {string} options.sparkHome as the nodes will name it: the archive is valid for this class path only
 * @param {string} options.javaHome Java 17 or newer
 * @param {string} options.python
 * @param {string} options.target file to write, about 180 MB; complete or not at all
 * @param {AbortSignal} [options.signal]
 * @throws {Error} with the last output if a step fails or takes longer than five minutes
 */
export async function makeClassArchive({ sparkHome, javaHome, python, target, signal }) {
  mkdirSync(dirname(target), { recursive: true });
  const folder = mkdtempSync(`${target}.`);
  const limit = withDeadline(DEADLINE_MS, signal);
  const home = join(folder, 'spark-home');
  try {
    const lists = ['driver', 'executor'].map((name) => join(folder, `${name}.classes`));
    const [driver, executor] = lists.map((list) => [`-XX:DumpLoadedClassList=${list}`, ...QUICK_JAVA].join(' '));
    // The local cluster keeps its work folder in Spark's home, which this user may not be able to write to.
    mkdirSync(home);
    for (const name of readdirSync(sparkHome)) {
      if (name !== 'work') symlinkSync(join(sparkHome, name), join(home, name));
    }
    await run(
      join(home, 'bin', 'spark-submit'),
      [
        ...['--master', 'local-cluster[1,1,1024]', '--driver-memory', '512m', '--executor-memory', '512m'],
        ...['--conf', `spark.driver.defaultJavaOptions=${driver}`],
        ...['--conf', `spark.executor.defaultJavaOptions=${executor}`],
        ...['--conf', 'spark.ui.showConsoleProgress=false'],
        TRAINING,
      ],
      {
        cwd: folder,
        env: {
          PATH: [dirname(python), join(javaHome, 'bin'), '/usr/local/bin', '/usr/bin', '/bin'].join(':'),
          HOME: folder,
          TMPDIR: folder,
          LANG: 'C.UTF-8',
          JAVA_HOME: javaHome,
          SPARK_HOME: home,
          PYSPARK_PYTHON: python,
          SPARK_LOCAL_IP: '127.0.0.1',
          SPARK_LOCAL_DIRS: folder,
        },
        signal: limit,
      },
    );
    const classes = new Set(lists.flatMap((list) => readFileSync(list, 'utf8').split('\n')));
    const all = join(folder, 'all.classes');
    writeFileSync(all, [...classes].join('\n'));
    const archive = join(folder, 'classes.jsa');
    await run(
      join(javaHome, 'bin', 'java'),
      [
        '-Xshare:dump',
        `-XX:SharedClassListFile=${all}`,
        `-XX:SharedArchiveFile=${archive}`,
        '-Xlog:disable',
        '-Xlog:all=error:stderr',
        ...['-cp', `${sparkHome}/conf/:${sparkHome}/jars/*`],
      ],
      { cwd: folder, env: { PATH: '/usr/bin:/bin', HOME: folder }, signal: limit },
    );
    renameSync(archive, target);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

/**
 * Runs a command to its end; an abort ends all its processes too.
 * @param {string} command
 * @param {string[]} args
 * @param {{cwd: string, env: NodeJS.ProcessEnv, signal: AbortSignal}} options
 * @returns {Promise<void>}
 */
function run(command, args, { cwd, env, signal }) {
  return new Promise((done, failed) => {
    const child = spawn(command, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    /** @param {string} text */
    const keep = (text) => (output = (output + text).slice(-4_000));
    child.stdout.setEncoding('utf8').on('data', keep);
    child.stderr.setEncoding('utf8').on('data', keep);
    const end = () => {
      try {
        if (child.pid) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // The process group has ended by itself.
      }
    };
    signal.addEventListener('abort', end, { once: true });
    child.once('error', failed);
    child.once('close', (code) => {
      signal.removeEventListener('abort', end);
      if (signal.aborted) failed(new Error(`${command} was ended: ${/** @type {Error} */ (signal.reason).message}`));
      else if (code === 0) done();
      else failed(new Error(`${command} ended with ${code}:\n${output}`));
    });
  });
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
