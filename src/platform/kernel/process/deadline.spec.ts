import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../../../../test/harness/eventually';
import { withDeadline } from './deadline';

/** Collects all garbage now. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

describe('a signal with a deadline', () => {
  it('aborts at the deadline after the garbage collector has run', async () => {
    const signal = withDeadline(100, new AbortController().signal);
    for (let round = 0; round < 3; round += 1) {
      collectGarbage();
      await delay(5);
    }
    await eventually(() => signal.aborted);
    expect(signal.reason).toMatchObject({ name: 'TimeoutError' });
  });

  it('aborts with the reason of the signal that aborted first', () => {
    const ended = new AbortController();
    const signal = withDeadline(60_000, ended.signal);
    ended.abort(new Error('stopped'));
    expect(signal.reason).toMatchObject({ message: 'stopped' });
  });
});
