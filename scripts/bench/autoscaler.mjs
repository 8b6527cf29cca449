import { createRequire } from 'node:module';
import { join } from 'node:path';
import { seededRandom } from '../../test/harness/seeded-random.cjs';
import { projectRoot } from '../embedded/install.mjs';
import { measure } from './comparison.mjs';

const load = createRequire(join(projectRoot, 'package.json'));
const CLUSTERS = 1_000;
const NODES = 10;
const SLOTS = 5;
const CORES = 16;
const TIMEOUT_MS = 900_000;
const START_MS = 150_000;

/**
 * @typedef {typeof import('../../src/modules/execution/clusters/scaling/scaling-decision.js')} Decisions
 * @typedef {import('../../src/modules/execution/clusters/scaling/scaling-decision.js').ScalingFacts} Facts
 */

/**
 * Measures the processor time of one scaling decision for each of a thousand clusters of ten nodes, with all facts in memory.
 * Returns the maximum of the rounds. Clusters of each type are idle, busy, short of slots or short of nodes.
 * @param {{rounds: number}} options
 */
export function measureAutoscaler({ rounds }) {
  /** @type {Decisions} */
  const { decideScaling, hasSpareWorker } = load('./dist/src/modules/execution/clusters/scaling/scaling-decision.js');
  const facts = drawFacts();
  /** @type {number[]} */
  const took = [];
  const decided = new Set();
  for (let round = 0; round <= rounds; round += 1) {
    const before = process.cpuUsage();
    for (const each of facts) {
      const spareWorkerSince = each.clusterType === 'CLUSTER' && hasSpareWorker(each) ? 0 : null;
      decided.add(decideScaling({ ...each, spareWorkerSince }).kind);
    }
    const { user, system } = process.cpuUsage(before);
    took.push((user + system) / 1000);
  }
  if (decided.size < 4) throw new Error(`Nothing but ${[...decided].join(', ')} was decided.`);
  return measure({
    name: 'autoscaler',
    title: `processor time of scaling decisions for ${CLUSTERS} clusters with ${NODES} nodes each: the most of ${rounds}`,
    unit: 'ms',
    goal: { below: 1_000 },
    value: Math.max(...took.slice(1)),
  });
}

/** @returns {Facts[]} */
function drawFacts() {
  const random = seededRandom(1);
  const now = Date.now();
  return Array.from({ length: CLUSTERS }, () => {
    const clusterType = random.pick(/** @type {const} */ (['PLATFORM', 'STANDALONE', 'CLUSTER']));
    const isCluster = clusterType === 'CLUSTER';
    const isBusy = random.below(2) === 0;
    const isWanted = isBusy && random.below(2) === 0;
    return {
      now,
      clusterType,
      status: 'RUNNING',
      minInstances: random.pick([1, NODES / 2, NODES]),
      maxInstances: 2 * NODES,
      maxParallelJobs: SLOTS,
      cleanUpTimeoutMs: TIMEOUT_MS,
      waitingRuns: isWanted && !isCluster ? random.between(1, NODES * SLOTS) : 0,
      oldestWaitingSince: isWanted && !isCluster ? now - random.below(2 * START_MS) : null,
      pendingCores: isWanted && isCluster ? random.between(1, NODES * CORES) : 0,
      pendingSince: isWanted && isCluster ? now - random.below(2 * START_MS) : null,
      growAfter: null,
      startTimeMs: START_MS,
      recentRunMs: random.between(START_MS / 10, 10 * START_MS),
      nodes: Array.from({ length: NODES }, (_, nodeNumber) => {
        const isMaster = isCluster && nodeNumber === 0;
        const used = isBusy ? random.between(1, SLOTS) : 0;
        /** @type {Facts['nodes'][number]} */
        const node = {
          nodeId: nodeNumber + 1,
          nodeNumber,
          role: isCluster
            ? isMaster
              ? 'master'
              : 'worker'
            : clusterType === 'PLATFORM'
              ? 'single'
              : 'master-and-workers',
          phase: isMaster ? 'ready' : random.pick(['ready', 'ready', 'ready', 'broken']),
          busySlots: isCluster && !isMaster ? 0 : used,
          usedCores: used,
          cores: CORES,
          idleSince: used > 0 ? null : now - random.below(2 * TIMEOUT_MS),
        };
        return node;
      }),
    };
  });
}
