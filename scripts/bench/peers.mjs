import { writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { javaVersion } from '../embedded/java-version.mjs';
import { SetupError } from '../embedded/setup-error.mjs';
import { SparkByHand } from './by-hand.mjs';
import { comparisonOf, measure, median } from './comparison.mjs';
import { InteractiveRuns } from './interactive-runs.mjs';
import { LIVY_VERSION, prepareLivy } from './peers/livy.mjs';
import { PeerSides } from './peers/peer-sides.mjs';
import { PlatformSide } from './peers/platform-side.mjs';
import { CONNECT_VERSION, prepareConnect } from './peers/spark-connect.mjs';
import { speedPage } from './peers/speed-table.mjs';
import { takeTurns } from './peers/turns.mjs';
import { compileJob } from './peers/work.mjs';

const DRIVER_MEMORY = '512m';

/**
 * @typedef {import('./peers/turns.mjs').Measured} Measured
 * @typedef {{only: string[], rounds: number, markdown?: string, print: (text: string) => void, signal: AbortSignal}} Measuring
 */

/**
 * Measures small work by plain Spark, Livy, Spark Connect and the platform, and prints a page with all of it. Starts nothing
 * unless it is requested.
 * @param {import('./platform-under-bench.mjs').PlatformUnderBench} platform
 * @param {Measuring} measuring markdown is a file for the page
 */
export async function measurePeers(platform, { only, rounds, markdown, print, signal }) {
  if (!only.includes('peers')) return [];
  const { runtime } = platform;
  if (!runtime.sparkVersion.startsWith('3.5.'))
    throw new SetupError(
      `The measurement peers needs Spark 3.5, not ${runtime.sparkVersion}: the peers are made for it. Set SPARK_VERSION or SPARK_HOME to a 3.5.`,
    );
  const load = loadavg()[0] ?? 0;
  const runtimeDir = resolve(process.env.RUNTIME_DIR || '.runtime');
  const livyJars = await prepareLivy(runtimeDir, { print, signal });
  const connectParts = await prepareConnect(runtimeDir, runtime, { print, signal });
  const byHand = new SparkByHand({ runtime, folder: join(platform.folder, 'peers'), signal });
  const jar = await compileJob(runtime, byHand.folder, signal);
  const master = `local[${platform.workerCores}]`;
  const memory = DRIVER_MEMORY;
  const peers = new PeerSides({ byHand, jar, master, memory, livyJars, connectParts, python: runtime.python });
  const runs = new InteractiveRuns(platform, signal);
  try {
    await runs.start();
    const ours = new PlatformSide(runs, DRIVER_MEMORY);
    await ours.prepare(jar);
    await peers.start();
    print('The cluster and the servers of the peers are up');
    const measured = await turns({ peers, ours, rounds, print });
    const page = speedPage(measured, {
      date: new Date().toISOString().slice(0, 10),
      rounds,
      machine: `${cpus().length} processors (${cpus()[0]?.model ?? 'unknown'}) with ${Math.round(totalmem() / 2 ** 30)} GiB`,
      load: load.toFixed(2),
      versions: [
        `Spark ${runtime.sparkVersion}`,
        `Java ${await javaOf(runtime.javaHome)}`,
        `Livy ${LIVY_VERSION}`,
        `Spark Connect ${CONNECT_VERSION}`,
        `Node ${process.versions.node}`,
      ],
      memory,
      master,
    });
    console.log(`\n${page}`);
    if (markdown) writeFileSync(markdown, page);
    return resultsOf(measured);
  } finally {
    await peers.close();
    await runs.close();
  }
}

/** @param {string} home @returns {Promise<string>} its version as it names it */
async function javaOf(home) {
  return /"(.+?)"/.exec((await javaVersion(home))?.text ?? '')?.[1] ?? 'of an unknown version';
}

/**
 * @param {{peers: PeerSides, ours: PlatformSide} & Pick<Measuring, 'rounds' | 'print'>} options
 * @returns {Promise<Measured>}
 */
async function turns({ peers, ours, rounds, print }) {
  /** @param {string} name @param {(() => Promise<import('./peers/turns.mjs').Turn[]>)[]} sides */
  const take = (name, sides) => takeTurns({ name: `peers-${name}`, rounds, sides, print });
  const measured = [
    await take('python', [
      () => peers.plainJob('python'),
      () => peers.livyBatch('python'),
      () => peers.connectJob(),
      () => ours.job('python'),
    ]),
    await take('jar', [() => peers.plainJob('jar'), () => peers.livyBatch('jar'), () => ours.job('jar')]),
    await take('sql', [() => peers.plainJob('sql'), () => ours.job('sql')]),
    await take('session', [() => peers.plainSession(), () => peers.connectSession(), () => ours.session()]),
  ];
  return new Map(measured.flatMap((each) => [...each]));
}

/**
 * Compares the platform with plain Spark: its warm runs, or its cold ones if none was warm.
 * @param {Measured} measured
 */
function resultsOf(measured) {
  /** @param {string} work */
  const sidesOf = (work) => {
    const sides = measured.get(work);
    return { baseline: sides?.get('plain') ?? [], product: sides?.get('warm') ?? sides?.get('cold') ?? [] };
  };
  /** @param {string} work @param {string} what @param {number} atMost */
  const against = (work, what, atMost) =>
    comparisonOf({
      name: `peers-${work}`,
      title: `POST of ${what} on a PLATFORM cluster to DONE, against plain Spark`,
      unit: 's',
      goal: { atMost },
      measured: sidesOf(work),
    });
  return [
    against('python', 'a Python job', 0.22),
    against('jar', 'a job in a jar', 0.12),
    against('sql', 'a SQL job', 0.4),
    measure({
      name: 'peers-first',
      title: 'POST of a notebook to the reply of a cell with Spark',
      unit: 's',
      goal: { below: 1.5 },
      value: median(sidesOf('first').product),
    }),
  ];
}
