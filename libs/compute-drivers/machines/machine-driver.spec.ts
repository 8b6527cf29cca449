import { ComputeDriverError, type DriverContext, type NodeSpec } from '../compute-driver';
import { plainNodeSpec, refOf } from '../compute-driver.contract';
import type { Cloud, CloudPort, ErrorClass, Leftover, Machine } from './cloud-port';
import { MachineDriver } from './machine-driver';

const context: DriverContext = {
  endpoint: null,
  credentials: {},
  correlationId: 'test',
  signal: new AbortController().signal,
};
const spec: NodeSpec = plainNodeSpec('token', '3.5.3');
const ref = refOf(spec);
const fault = new ComputeDriverError('Said', 'The provider says why.', { kind: 'capacity', scope: 'zone' });

const machine = (values: Partial<Machine> = {}): Machine => ({
  ...{ id: 'm-1', owner: { ...spec.labels, attempt: 1 }, phase: 'running', end: null, fault: null, isSpot: false },
  ...{ createdAt: new Date(0), privateIp: null, publicIp: null, ...values },
});
const ofNode = (nodeToken: string, values: Partial<Machine> = {}): Machine =>
  machine({ id: nodeToken, owner: { ...spec.labels, nodeToken, attempt: 1 }, ...values });

/** A provider with the machines of a test, which records the calls it gets. */
function cloudOf(machines: Machine[], values: Partial<Cloud> = {}, left: Leftover[] = []) {
  const calls: string[] = [];
  let refusal: ErrorClass | null = null;
  let others: Machine[] = [];
  const record = (what: string): Promise<void> => {
    calls.push(what);
    return refusal === null ? Promise.resolve() : Promise.reject(fault);
  };
  const port: CloudPort = {
    prepareLaunch: () => async () => {
      machines.push(...others);
      await record('create');
      return machine({ phase: 'starting' });
    },
    find: () => Promise.resolve([...machines]),
    listOwned: () => Promise.resolve(machines),
    start: ({ id }) => record(`start ${id}`),
    stop: ({ id }) => record(`stop ${id}`),
    terminate: (some) => record(`end ${some.map(({ id }) => id).join()}`),
    dismissEnd: ({ id }) => record(`forget ${id}`),
    leftoversOfNode: () => Promise.resolve(left),
    leftoversOfInstallation: () => Promise.resolve(left),
    classify: () => refusal,
  };
  const cloud: Cloud = {
    ...{
      name: 'cloud',
      title: 'The cloud',
      notice: null,
      canStopSpot: false,
      canRelaunchAttempt: false,
      open: () => port,
    },
    ...values,
  };
  /** Refuses all calls. The machines of other callers appear with the first launch. */
  const refuse = (known: ErrorClass, ...made: Machine[]) => void ([refusal, others] = [known, made]);
  return { driver: new MachineDriver(cloud, () => ''), calls, refuse };
}

describe('MachineDriver', () => {
  it.each<[string, Machine[], Partial<Cloud>, object]>([
    ['of another attempt', [machine({ owner: { ...spec.labels, attempt: 2 } })], {}, { code: 'OtherAttempt' }],
    ['being terminated', [machine({ phase: 'ending' })], { canRelaunchAttempt: true }, { code: 'OtherAttempt' }],
    [
      'of another installation',
      [machine({ owner: { ...spec.labels, installationId: 'x', attempt: 1 } })],
      {},
      { code: 'ForeignMachine', kind: 'invalid' },
    ],
    ['that has ended', [machine({ phase: 'over' })], {}, { code: 'MachineEnded', kind: 'invalid' }],
    ['that failed', [machine({ phase: 'over', end: 'failed', fault })], {}, fault],
  ])('launches no machine while there is one %s', async (_what, machines, values, expected) => {
    const { driver, calls } = cloudOf(machines, values);
    await expect(driver.provision(spec, context)).rejects.toMatchObject(expected);
    expect(calls).toEqual([]);
  });

  it('returns the machine of its attempt, and launches one if those of other attempts have ended', async () => {
    const others = [machine({ id: 'old', phase: 'over', owner: { ...spec.labels, attempt: 9 } })];
    const found = cloudOf([...others, machine({ phase: 'ending' })]);
    expect(await found.driver.provision(spec, context)).toMatchObject({ providerRef: 'm-1', state: 'stopping' });
    expect(found.calls).toEqual([]);
    expect(await cloudOf(others).driver.provision(spec, context)).toMatchObject({ state: 'pending' });
  });

  it('returns the machine of a call that was first, or throws the error', async () => {
    const lost = cloudOf([]);
    lost.refuse('exists');
    await expect(lost.driver.provision(spec, context)).rejects.toBe(fault);
    const late = cloudOf([]);
    late.refuse('exists', machine());
    expect(await late.driver.provision(spec, context)).toMatchObject({ state: 'running' });
    expect(late.calls).toEqual(['create']);
  });

  it.each<[Partial<Machine>, string, string]>([
    [{ phase: 'starting' }, 'stopping', 'pending'],
    [{ phase: 'running' }, 'stopping', 'running'],
    [{ phase: 'stopping' }, 'stopping', 'StillStopping'],
    [{ phase: 'halted' }, 'stopping', 'pending'],
    [{ phase: 'off' }, 'stopped', 'pending'],
    [{ phase: 'off', end: 'failed', fault }, 'stopped', 'pending'],
    [{ phase: 'off', end: 'interrupted', fault }, 'stopped', 'Said'],
    [{ phase: 'ending' }, 'stopping', 'MachineGone'],
    [{ phase: 'over' }, 'stopped', 'MachineGone'],
    [{ isSpot: true }, 'SpotNotStoppable', 'running'],
  ])('stops a machine %j with %s, and starts it with %s', async (values, stopped, started) => {
    const { driver } = cloudOf([machine(values)]);
    const codeOf = (error: ComputeDriverError) => error.code;
    expect(await driver.stop(ref, context).catch(codeOf)).toBe(stopped);
    expect(await driver.start(ref, context).then(({ state }) => state as string, codeOf)).toBe(started);
  });

  it.each<[ErrorClass]>([['busy'], ['missing']])('ignores that a machine is %s, and checks again', async (known) => {
    const { driver, calls, refuse } = cloudOf([machine()]);
    refuse(known);
    expect(await driver.stop(ref, context)).toBe('stopping');
    expect(await driver.destroy(ref, context)).toBe('going');
    expect(calls).toEqual(['stop m-1', 'end m-1']);
  });

  it('terminates machines first, then removes leftovers that are not in use, and dismisses interruptions', async () => {
    const part = (isInUse: boolean): Leftover => ({ nodeToken: 'token', createdAt: null, isInUse, remove: jest.fn() });
    const parts = [part(false), part(true)];
    const ends = [machine({ id: 'a', phase: 'ending' }), machine({ id: 'b' })];
    const over = [machine({ id: 'c', phase: 'over' }), machine({ id: 'd', phase: 'over', end: 'interrupted', fault })];
    const going = cloudOf([...ends, ...over], {}, parts);
    expect(await going.driver.destroy(ref, context)).toBe('going');
    expect(going.calls).toEqual(['end b', 'forget d']);
    expect(parts[0]?.remove).not.toHaveBeenCalled();
    expect(await cloudOf(over, {}, parts).driver.destroy(ref, context)).toBe('going');
    expect(parts.map(({ remove }) => (remove as jest.Mock).mock.calls.length)).toEqual([1, 0]);
    expect(await cloudOf(over).driver.destroy(ref, context)).toBe('gone');
  });

  it('sweeps several machines per call, no copies, and no leftovers of nodes with a machine', async () => {
    const remove = jest.fn(() => Promise.resolve());
    const part = (nodeToken: string, values: Partial<Leftover> = {}): Leftover => ({
      ...{ nodeToken, createdAt: null, remove },
      ...values,
    });
    const machines = [ofNode('a'), ofNode('b'), ofNode('copied', { isCopy: true }), ofNode('c', { phase: 'ending' })];
    const over = ofNode('over', { phase: 'over' });
    const parts = [part('a'), part('copied'), part('over'), part('held', { isInUse: true })];
    const values = { maxTerminationsPerCall: 5, hasLeftoversWithoutAge: true };
    const { driver, calls } = cloudOf([...machines, over], values, parts);
    const scope = { installationId: 'own', place: spec.place, olderThan: new Date() };
    const swept = await driver.sweep({ ...scope, liveAmong: () => Promise.resolve(new Set()) }, context);
    expect(swept).toEqual({ removed: ['a', 'b', 'over'], failed: [] });
    expect([calls, remove.mock.calls.length]).toEqual([['end a,b'], 1]);
    const listed = await driver.listOwned(scope, context);
    expect(listed.map(({ labels }) => labels.nodeToken)).toEqual(['a', 'b', 'copied', 'c']);
  });
});
