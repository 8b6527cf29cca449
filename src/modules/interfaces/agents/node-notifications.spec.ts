import type { Config } from '../../../config/config';
import type { PgListener } from '../../../platform/kernel/notifications/pg-listener';
import { NodeNotifications } from './node-notifications';

/** Which of the polls have been woken, in the order in which they were. */
function polls(maxPolls: number) {
  let notify: (payload: string) => void = () => undefined;
  const listener = { on: (_channel: string, told: (payload: string) => void) => (notify = told) };
  const wakeUps = new NodeNotifications(listener as unknown as PgListener, { http: { maxPolls } } as Config);
  wakeUps.onModuleInit();
  const woken: string[] = [];
  const poll = (nodeId: number, name: string) => {
    const subscription = wakeUps.subscribe(nodeId);
    void subscription.notified.then(() => woken.push(name));
    return subscription.cancel;
  };
  return { woken, poll, notify: (payload: string) => notify(payload), wakeUps };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('NodeNotifications', () => {
  it('wakes the polls of the nodes that are named, and all where none is', async () => {
    const { woken, poll, notify } = polls(10);
    poll(1, 'one');
    poll(2, 'two');
    poll(3, 'three');
    poll(4, 'four');
    notify('2');
    await settled();
    expect(woken).toEqual(['two']);
    notify('4,17,3');
    await settled();
    expect(woken).toEqual(['two', 'four', 'three']);
    notify('');
    await settled();
    expect(woken).toEqual(['two', 'four', 'three', 'one']);
  });

  it('answers a poll when another one of its node comes', async () => {
    const { woken, poll, notify } = polls(10);
    const endFirst = poll(1, 'first');
    poll(1, 'second');
    await settled();
    expect(woken).toEqual(['first']);
    endFirst();
    notify('1');
    await settled();
    expect(woken).toEqual(['first', 'second']);
  });

  it('answers the one that has waited longest when too many wait', async () => {
    const { woken, poll } = polls(2);
    poll(1, 'one');
    const endTwo = poll(2, 'two');
    poll(3, 'three');
    await settled();
    expect(woken).toEqual(['one']);
    endTwo();
    poll(4, 'four');
    await settled();
    expect(woken).toEqual(['one', 'two']);
  });

  it('lets all go when the process stops', async () => {
    const { woken, poll, wakeUps } = polls(10);
    poll(1, 'one');
    wakeUps.onModuleDestroy();
    poll(2, 'two');
    await settled();
    expect(woken).toEqual(['one', 'two']);
  });
});
