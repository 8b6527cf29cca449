import { ComputeDriverError, type FaultKind } from '../../../../../libs/compute-drivers/compute-driver';
import { PermanentError, Step } from '../../../../platform/background/workflows/workflow-definition';
import { afterFault, handlingFaults, allOrWorst, callEachNode } from './provider-faults';

const fault = (kind: FaultKind, retryAfterMs: number | null = null): ComputeDriverError =>
  new ComputeDriverError('TEST', `the provider says ${kind}`, { kind, retryAfterMs });

describe('the consequence of a provider fault', () => {
  it.each<[FaultKind, number | null, ReturnType<typeof afterFault>]>([
    ['throttled', null, { kind: 'wait', ms: 5_000 }],
    ['throttled', 12_000, { kind: 'wait', ms: 12_000 }],
    ['throttled', 0, { kind: 'wait', ms: 1_000 }],
    ['throttled', 86_400_000, { kind: 'wait', ms: 300_000 }],
    ['transient', null, { kind: 'repeat' }],
    ['transient', 12_000, { kind: 'wait', ms: 12_000 }],
    ['transient', 180_000, { kind: 'wait', ms: 180_000 }],
    ['capacity', null, { kind: 'end' }],
    ['quota', null, { kind: 'end' }],
    ['denied', null, { kind: 'end' }],
    ['invalid', null, { kind: 'end' }],
  ])('%s, asked to wait %p: %j', (kind, retryAfterMs, expected) => {
    expect(afterFault(fault(kind, retryAfterMs))).toEqual(expected);
  });

  const stepThat = (error: Error) => handlingFaults(() => Promise.reject(error));

  it('is a pause of the step, its retry, or its end with the message of the provider', async () => {
    expect(await stepThat(fault('throttled', 7_000))).toEqual(Step.wait(7_000, 'the provider says throttled'));
    await expect(stepThat(fault('transient'))).rejects.toMatchObject({ name: 'ComputeDriverError', retryable: true });
    await expect(stepThat(fault('quota'))).rejects.toEqual(new PermanentError('the provider says quota'));
    await expect(stepThat(new Error('no database'))).rejects.toThrow('no database');
    expect(await handlingFaults(() => Promise.resolve(Step.done))).toBe(Step.done);
  });

  it('of many calls is decided by the most severe fault, after all have ended', async () => {
    let ended = 0;
    const late = new Promise<void>((resolve) => {
      setImmediate(() => {
        ended += 1;
        resolve();
      });
    });
    const [short, long, again, end] = [
      fault('throttled', 2_000),
      fault('throttled', 9_000),
      fault('transient'),
      fault('denied'),
    ];
    const worstOf = (...errors: Error[]) => allOrWorst([late, ...errors.map((error) => Promise.reject<void>(error))]);
    await expect(worstOf(short, end, again)).rejects.toBe(end);
    expect(ended).toBe(1);
    await expect(worstOf(long, again, short)).rejects.toBe(again);
    await expect(worstOf(short, long)).rejects.toBe(long);
    expect(await allOrWorst([Promise.resolve(1), Promise.resolve(2)])).toEqual([1, 2]);
  });

  it('of some nodes names the one that decides, and keeps the message of each', async () => {
    const nodes = [0, 1, 2].map((node_number) => ({ node_id: 10 + node_number, node_number }));
    const call = (faults: readonly (Error | null)[]) =>
      callEachNode(nodes, ({ node_number }) => {
        const error = faults[node_number];
        return error ? Promise.reject(error) : Promise.resolve(node_number);
      });
    expect(await call([null, null, null])).toEqual([0, 1, 2]);
    const parts = { 11: 'the provider says throttled', 12: 'the provider says transient' };
    const some = call([null, fault('throttled', 2_000), fault('transient')]);
    const message = 'Node 2: the provider says transient';
    await expect(some).rejects.toMatchObject({ message, retryable: true, parts });
    const waited = await handlingFaults(async () => {
      await call([null, fault('throttled', 2_000), null]);
      return Step.done;
    });
    const text = 'the provider says throttled';
    expect(waited).toEqual(Step.wait(2_000, { message: `Node 1: ${text}`, parts: { 11: text } }));
    const quota = [fault('quota'), fault('quota'), fault('quota')];
    await expect(call(quota)).rejects.toMatchObject({ name: 'ComputeDriverError', message: 'the provider says quota' });
  });
});
