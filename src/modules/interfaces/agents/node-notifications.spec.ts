import type { Config } from '../../../config/config';
import type { PgListener } from '../../../platform/kernel/notifications/pg-listener';
import { NodeNotifications } from './node-notifications';

/** Returns polls and the names of those that were notified, in order. */
function polls(maxPolls: number) {
  let notify: (payload: string) => void = () => undefined;
  const listener = { on: (_channel: string, listen: (payload: string) => void) => (notify = listen) };
  const notifications = new NodeNotifications(listener as unknown as PgListener, { http: { maxPolls } } as Config);
  notifications.onModuleInit();
  const notified: string[] = [];
  const poll = (nodeId: number, name: string) => {
    const subscription = notifications.subscribe(nodeId);
    void subscription.notified.then(() => notified.push(name));
    return subscription.cancel;
  };
  return { notified, poll, notify: (payload: string) => notify(payload), notifications };
}

const flushPromises = () => new Promise((resolve) => setImmediate(resolve));

describe('NodeNotifications', () => {
  it('notifies the polls of the named nodes, or all polls if the payload is empty', async () => {
    const { notified, poll, notify } = polls(10);
    poll(1, 'one');
    poll(2, 'two');
    poll(3, 'three');
    poll(4, 'four');
    notify('2');
    await flushPromises();
    expect(notified).toEqual(['two']);
    notify('4,17,3');
    await flushPromises();
    expect(notified).toEqual(['two', 'four', 'three']);
    notify('');
    await flushPromises();
    expect(notified).toEqual(['two', 'four', 'three', 'one']);
  });

  it('ends a poll when its node polls again', async () => {
    const { notified, poll, notify } = polls(10);
    const endFirst = poll(1, 'first');
    poll(1, 'second');
    await flushPromises();
    expect(notified).toEqual(['first']);
    endFirst();
    notify('1');
    await flushPromises();
    expect(notified).toEqual(['first', 'second']);
  });

  it('ends the oldest poll when too many wait', async () => {
    const { notified, poll } = polls(2);
    poll(1, 'one');
    const endTwo = poll(2, 'two');
    poll(3, 'three');
    await flushPromises();
    expect(notified).toEqual(['one']);
    endTwo();
    poll(4, 'four');
    await flushPromises();
    expect(notified).toEqual(['one', 'two']);
  });

  it('ends all polls when the process stops', async () => {
    const { notified, poll, notifications } = polls(10);
    poll(1, 'one');
    notifications.onModuleDestroy();
    poll(2, 'two');
    await flushPromises();
    expect(notified).toEqual(['one', 'two']);
  });
});
