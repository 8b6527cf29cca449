import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { projectRoot } from '../embedded/install.mjs';
import { ByHandProcess } from './by-hand-process.mjs';
import { additionOf } from './comparison.mjs';
import { KernelClient } from './kernel-client.mjs';
import { percentile } from './percentile.mjs';

const BY_HAND = fileURLToPath(new URL('./kernel_by_hand.py', import.meta.url));
const KERNEL = join(projectRoot, 'libs', 'run-bridges', 'kernel_python.py');

const CELLS = {
  echo: '1',
  // The output of a cell is cut at 1 MiB; this is less.
  printed: 'for n in range(200_000):\n    print(n % 1000)',
  first: 'spark.range(1000).selectExpr("sum(id)").first()',
};
const PRINTED = 778_000;
/** Echoes of one side before the other takes its turn, and the number of turns. */
const ECHOES = 50;
const TURNS = 8;

/**
 * Prepares a kernel of a notebook and one by hand, both with a Spark session.
 * @param {import('./interactive-runs.mjs').InteractiveRuns} runs
 */
export async function prepareKernels(runs) {
  const { platform, signal } = runs;
  const confId = await runs.describeNotebook('bench', CELLS);
  const folder = join(platform.folder, 'kernel-by-hand');
  /** @type {(() => Promise<unknown>)[]} */
  const undo = [];
  const close = async () => {
    for (const each of undo.reverse()) await each();
  };
  try {
    const notebookId = await runs.startNotebook(confId);
    undo.push(() => runs.endNotebook(notebookId));
    const client = await KernelClient.open(runs.socketOf(notebookId));
    undo.push(async () => client.close());
    // Only after a cell the kernel certainly runs and has its session.
    await client.execute('first', CELLS.first);
    const { python, env, cwd } = runs.startedAs('kernel_python.py', folder);
    const byHand = new ByHandProcess([python, BY_HAND, KERNEL, folder], { env, cwd, signal });
    undo.push(() => byHand.close());
    return {
      echo: () => echo(client, byHand),
      printed: printedSides(client, byHand),
      first: firstSides(runs, confId, byHand),
      /** Leaves the machine to the notebook alone. */
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** @param {KernelClient} client @param {ByHandProcess} byHand */
async function echo(client, byHand) {
  await byHand.ask('first', CELLS.first);
  const sides = {
    baseline: async () => (await byHand.ask('execute', CELLS.echo)).ms,
    product: async () => (await client.execute('echo', CELLS.echo)).ms,
  };
  /** @type {{baseline: number[], product: number[]}} */
  const measured = { baseline: [], product: [] };
  for (let turn = 0; turn < TURNS; turn += 1) {
    for (const side of /** @type {const} */ (['baseline', 'product'])) {
      for (let number = 0; number < ECHOES; number += 1) {
        const ms = await sides[side]();
        // The first turn is a warm-up and does not count.
        if (turn > 0) measured[side].push(ms);
      }
    }
  }
  await byHand.ask('end');
  /** @param {number} part @param {number} atMost */
  const added = (part, atMost) =>
    additionOf({
      name: `kernel-p${part}`,
      title: `a cell "1" of a notebook to its reply, against jupyter_client: p${part} of ${measured.product.length} a side`,
      unit: 'ms',
      goal: { atMost },
      baseline: percentile(measured.baseline, part / 100),
      product: percentile(measured.product, part / 100),
    });
  return [added(50, 20), added(99, 60)];
}

/** @param {KernelClient} client @param {ByHandProcess} byHand */
function printedSides(client, byHand) {
  /** @param {import('./kernel-client.mjs').Executed} executed */
  const seconds = ({ ms, printed }) => {
    if (printed !== PRINTED) throw new Error(`The cell printed ${printed} characters, not ${PRINTED}.`);
    return ms / 1000;
  };
  return {
    baseline: async () => {
      await byHand.ask('first', CELLS.first);
      const executed = await byHand.ask('execute', CELLS.printed);
      await byHand.ask('end');
      return seconds(executed);
    },
    product: async () => seconds(await client.execute('printed', CELLS.printed)),
  };
}

/**
 * The platform's side counts from the request for an instance, its run included; the other side from the start of the kernel.
 * @param {import('./interactive-runs.mjs').InteractiveRuns} runs
 * @param {number} confId
 * @param {ByHandProcess} byHand
 */
function firstSides(runs, confId, byHand) {
  return {
    baseline: async () => {
      const { ms } = await byHand.ask('first', CELLS.first);
      await byHand.ask('end');
      return ms / 1000;
    },
    product: async () => {
      const began = performance.now();
      const id = await runs.startNotebook(confId);
      const client = await KernelClient.open(runs.socketOf(id));
      await client.execute('first', CELLS.first);
      const ms = performance.now() - began;
      client.close();
      await runs.endNotebook(id);
      return ms / 1000;
    },
  };
}
