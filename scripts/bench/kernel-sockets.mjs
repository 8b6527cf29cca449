import { fileURLToPath } from 'node:url';
import { measure } from './comparison.mjs';
import { peakMemory } from './memory.mjs';
import { ask, MeasuringProcesses } from './processes.mjs';

const CLIENT = fileURLToPath(new URL('./kernel-sockets-client.mjs', import.meta.url));
const SOCKETS = 1_000;
/** Sockets beside the one that reads nothing. */
const OTHERS = 8;

const CELLS = {
  // 200 KiB in ten seconds for each socket.
  trickle: 'import time\nfor n in range(40):\n    print("x" * 5_119, flush=True)\n    time.sleep(0.25)',
  // More than the connection of a client that does not read can hold.
  flood: 'from IPython.display import HTML, display\nfor n in range(24):\n    display(HTML("x" * 1_000_000))',
};

/**
 * Measures a thousand sockets to one kernel, and one socket that reads nothing.
 * @param {import('./interactive-runs.mjs').InteractiveRuns} runs
 */
export async function measureSockets(runs) {
  const { platform, signal } = runs;
  // The measurements before have left memory allocated.
  await platform.restart();
  const confId = await runs.describeNotebook('bench-sockets', CELLS);
  const id = await runs.startNotebook(confId);
  const processes = new MeasuringProcesses(signal);
  try {
    const child = processes.start(CLIENT);
    /** @param {string} action @param {object} [parameters] */
    const send = async (action, parameters) => {
      const answer = await ask(child, { action, with: parameters });
      if (answer.error) throw new Error(`The sockets failed: ${answer.error}`);
      return answer;
    };
    const url = runs.socketOf(id);
    const pid = platform.apiPid();
    const peak = await peakMemory(pid, async () => {
      await send('connect', { url, count: SOCKETS });
      platform.print(`sockets: ${SOCKETS} are open`);
      const { seconds } = await send('execute', { id: 'trickle', code: CELLS.trickle });
      platform.print(`sockets: all had the reply after ${seconds.toFixed(1)} s`);
    });
    platform.print(`sockets: the API has ${peak.toFixed(0)} MiB at most`);
    await send('disconnect');
    await send('connect', { url, count: OTHERS });
    const { seconds, cut } = await send('ignore', { url, id: 'flood', code: CELLS.flood });
    platform.print(
      `sockets: the others had the reply after ${seconds.toFixed(1)} s, the silent one was cut after ${cut.toFixed(1)} s`,
    );
    return [
      measure({
        name: 'sockets',
        title: `resident memory of the API with ${SOCKETS} sockets to a kernel that prints`,
        unit: 'MiB',
        goal: { below: 256 },
        value: peak,
      }),
      measure({
        name: 'sockets-others',
        title: `24 MB of a kernel to ${OTHERS} sockets beside one that reads nothing`,
        unit: 's',
        goal: { below: 10 },
        value: seconds,
      }),
      measure({
        name: 'sockets-silent',
        title: 'until that one is cut',
        unit: 's',
        goal: { below: 45 },
        value: cut,
      }),
    ];
  } finally {
    await processes.close();
    await runs.endNotebook(id);
  }
}
