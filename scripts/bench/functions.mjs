import { fileURLToPath } from 'node:url';
import { upload } from '../demo/demo.mjs';
import { runCommand } from '../embedded/processes.mjs';
import { additionOf, measure } from './comparison.mjs';
import { percentile } from './percentile.mjs';
import { MeasuringProcesses } from './processes.mjs';

const SCRIPT = fileURLToPath(new URL('./empty_function.py', import.meta.url));
const CLIENTS = 8;
const AT_ONCE = 16;
const SECONDS = 5;
const BY_HAND_CALLS = 10_000;

/**
 * Measures invocations of a function that does nothing: calls per second, and the duration of one.
 * @param {import('./interactive-runs.mjs').InteractiveRuns} runs
 * @param {number} rounds
 */
export async function measureFunction(runs, rounds) {
  const { platform, signal } = runs;
  const { session } = platform;
  await upload(session, platform.workspaceId, 'empty/serve.py', SCRIPT);
  const job = await runs.startJob('bench-function', {
    job_type: 'PLATFORM_FUNCTIONS',
    platform_functions_script_path: 'empty/serve.py',
    platform_functions_function_name: 'serve',
    platform_functions_max_request_concurrency: AT_ONCE,
  });
  const processes = new MeasuringProcesses(signal);
  try {
    const load = processes.startLoad();
    const target = {
      port: Number(new URL(session.baseUrl).port),
      path: `/api/v1${job.path}/invoke`,
      headers: { authorization: `Bearer ${session.token}` },
      body: {},
      seconds: SECONDS,
    };
    /** @param {number} connections */
    const invoke = (connections) => load({ ...target, connections });
    await invoke(CLIENTS);
    /** @type {{rates: number[], alone: number[]}} */
    const { rates, alone } = { rates: [], alone: [] };
    for (let round = 1; round <= rounds; round += 1) {
      const [one, all] = [await invoke(1), await invoke(CLIENTS)];
      alone.push(one.p50);
      rates.push(all.perSecond);
      const [ms, perSecond] = [one.p50.toFixed(2), all.perSecond.toFixed(0)];
      platform.print(`function: round ${round} of ${rounds}, one client ${ms} ms, ${CLIENTS} clients ${perSecond}/s`);
    }
    const { code, output } = await runCommand(platform.runtime.python, [SCRIPT, String(BY_HAND_CALLS)], { signal });
    if (code !== 0) throw new Error(`The function by itself ended with ${code}:\n${output}`);
    return [
      measure({
        name: 'function',
        title: `invocations of an empty function by ${CLIENTS} clients: the median of ${rounds} rounds`,
        unit: '1/s',
        goal: { atLeast: 200 },
        value: percentile(rates, 0.5),
      }),
      additionOf({
        name: 'function-p50',
        title: `p50 of an invocation by one client, against calling it in Python: the median of ${rounds} rounds`,
        unit: 'ms',
        goal: { atMost: 15 },
        baseline: Number(output),
        product: percentile(alone, 0.5),
      }),
    ];
  } finally {
    await processes.close();
    await job.end();
  }
}
