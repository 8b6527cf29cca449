import assert from 'node:assert/strict';
import type { RunOutcome, RunState } from '../../libs/contracts/agent-protocol';
import { classifyEnd } from '../../libs/spark/run-end';
import { seededRandom, type SeededRandom } from '../harness/seeded-random.cjs';
import {
  CLUSTER_OPERATIONS,
  CLUSTER_TRANSITIONS,
  type ClusterOperation,
  type ClusterStatus,
  clusterMayBecome,
  NODE_TRANSITIONS,
} from '../../src/modules/execution/clusters/model/cluster-state';
import { planNodes } from '../../src/modules/execution/clusters/model/node-plan';
import {
  isFinished,
  RUN_TRANSITIONS,
  runMayBecome,
  type RunStatus,
  STATUS_OF_OUTCOME,
  STOPPABLE,
} from '../../src/modules/execution/runs/jobs/run-state';
import { splitArguments } from '../../src/modules/execution/runs/jobs/split-arguments';

const CASES = 10_000;

/** Runs the check for each seed; a failure names its seed. Checks use plain assertions, because jest's own would take most of the time. */
function forEachSeed(check: (random: SeededRandom) => void): void {
  for (let seed = 1; seed <= CASES; seed += 1) {
    try {
      check(seededRandom(seed));
    } catch (error) {
      throw new Error(`Seed ${seed}: ${(error as Error).message}`, { cause: error });
    }
  }
}

/** Outcomes that an agent may report of a run, by whether it was asked to stop it. */
const ENDS: Record<'asked' | 'unasked', readonly RunOutcome[]> = {
  asked: ['stopped', 'killed', 'done', 'error', 'terminated'],
  unasked: ['done', 'error', 'terminated'],
};
const STATUS_OF_STATE: Partial<Record<RunState, RunStatus>> = {
  running: 'RUNNING',
  stopping: 'STOPPING',
  killing: 'KILLING',
};
const REST: readonly ClusterStatus[] = ['RUNNING', 'STOPPED', 'DESTROYED', 'ERROR'];

describe('decisions, for ten thousand seeds', () => {
  it('a run may end with each outcome of its agent, whatever its status, and then never changes', () => {
    forEachSeed((random) => {
      let status: RunStatus = 'SUBMITTED';
      let asked = false;
      for (let count = random.below(8); count > 0; count -= 1) {
        if (random.below(4) === 0 && STOPPABLE.includes(status)) {
          assert.equal(runMayBecome(status, 'STOPPING'), true);
          [status, asked] = ['STOPPING', true];
        }
        const reported = STATUS_OF_STATE[random.pick(['accepted', 'running', 'stopping', 'killing'] as const)];
        // An agent stops a run only on request; reports may be late.
        const isReported = reported !== undefined && (asked || reported === 'RUNNING');
        if (isReported && reported !== status && runMayBecome(status, reported)) status = reported;
        assert.equal(isFinished(status), false);
      }
      const end = STATUS_OF_OUTCOME[random.pick(ENDS[asked ? 'asked' : 'unasked'])];
      assert.equal(runMayBecome(status, end), true);
      assert.equal(isFinished(end), true);
      assert.equal(runMayBecome(end, random.pick(Object.keys(RUN_TRANSITIONS) as RunStatus[])), false);
    });
  });

  it('a cluster comes to rest after every operation, by success or by failure', () => {
    forEachSeed((random) => {
      let status: ClusterStatus = 'STOPPED';
      for (let count = random.between(1, 12); count > 0; count -= 1) {
        const possible = (Object.keys(CLUSTER_OPERATIONS) as ClusterOperation[]).filter((operation) =>
          CLUSTER_OPERATIONS[operation].from.some((from) => from === status),
        );
        // A destroyed cluster returns only when it is enabled.
        if (possible.length === 0) {
          assert.equal(status, 'DESTROYED');
          assert.equal(clusterMayBecome(status, 'STOPPED'), true);
          status = 'STOPPED';
          continue;
        }
        const { to } = CLUSTER_OPERATIONS[random.pick(possible)];
        assert.equal(clusterMayBecome(status, to), true);
        assert.equal(clusterMayBecome(to, 'ERROR'), true);
        const ends = CLUSTER_TRANSITIONS[to];
        status = random.pick(ends);
        assert.ok(REST.includes(status));
      }
    });
  });

  it('a node can always be destroyed, and never returns after that', () => {
    forEachSeed((random) => {
      let status: keyof typeof NODE_TRANSITIONS = 'INITIATING';
      for (let count = random.below(12); count > 0 && status !== 'DESTROYED'; count -= 1) {
        assert.equal(
          NODE_TRANSITIONS[status].some((to) => to === 'DESTROYING' || to === 'DESTROYED'),
          true,
        );
        status = random.pick(NODE_TRANSITIONS[status]);
      }
      if (status === 'DESTROYED') assert.deepEqual(NODE_TRANSITIONS[status], []);
    });
  });

  it('the end of a process is a success exactly if its exit code is 0, and its message is one short line', () => {
    const TAILS = [
      '',
      'Traceback (most recent call last):\nValueError: no',
      'java.lang.OutOfMemoryError: Java heap space',
      'Error: Failed to load class Main.',
      "python3: can't open file '/x.py': [Errno 2] No such file or directory",
      'x'.repeat(5_000),
      'org.apache.spark.SparkException: Job aborted',
    ];
    forEachSeed((random) => {
      const exitCode = random.pick([0, 1, 2, 52, 101, 137, 143, null]);
      const { outcome, reason, message } = classifyEnd({
        kind: random.pick(['python', 'jar', 'raw-scala', 'sql'] as const),
        exitCode,
        signal: random.pick([null, null, 'SIGKILL', 'SIGTERM']),
        stdoutTail: random.pick(TAILS),
        stderrTail: random.pick(TAILS),
      });
      assert.equal(outcome === 'done', exitCode === 0);
      assert.equal(reason === 'COMPLETED', exitCode === 0);
      // These outcomes require a request to stop.
      assert.ok(!['stopped', 'killed'].includes(outcome));
      assert.match(message, /^[^\n]{1,700}$/);
    });
  });

  it('a cluster has at least one node for drivers, and node numbers without gaps', () => {
    forEachSeed((random) => {
      const planned = planNodes({
        clusterType: random.pick(['PLATFORM', 'STANDALONE', 'CLUSTER'] as const),
        minInstances: random.pick([null, random.between(1, 30)]),
        maxInstances: random.pick([null, random.between(1, 30)]),
        numOfWorkers: random.pick([null, random.between(1, 30)]),
      });
      assert.equal(
        planned.some(({ role }) => role !== 'worker'),
        true,
      );
      assert.deepEqual(
        planned.map(({ nodeNumber }) => nodeNumber),
        planned.map((_, index) => index),
      );
    });
  });

  it('arguments with shell quotes are split as by a shell', () => {
    const LETTERS = [...'ab 1"\'\\$`\n;*|&'];
    const single = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`;
    const double = (word: string) => `"${word.replaceAll(/["\\$`]/g, '\\$&')}"`;
    forEachSeed((random) => {
      const words = Array.from({ length: random.below(5) }, () =>
        Array.from({ length: random.below(6) }, () => random.pick(LETTERS)).join(''),
      );
      for (const quoted of [single, double]) assert.deepEqual(splitArguments(words.map(quoted).join(' ')), words);
    });
  });
});
