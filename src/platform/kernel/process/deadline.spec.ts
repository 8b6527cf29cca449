import { setTimeout as delay } from 'node:timers/promises';
import { collectGarbage } from '../../../../test/harness/collect-garbage';
import { eventually } from '../../../../test/harness/eventually';
import { withDeadline } from './deadline';

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
