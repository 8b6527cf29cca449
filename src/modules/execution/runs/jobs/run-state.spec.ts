import { FUNCTION, JOB, NOTEBOOK, SQL_SERVER } from './run-kinds';
import { isFinished, RUN_STATUSES, runMayBecome, statusBehind, STOPPABLE } from './run-state';

const ALLOWED = new Set([
  'SUBMITTED>RUNNING',
  'SUBMITTED>DONE',
  'SUBMITTED>ERROR',
  'SUBMITTED>TERMINATED',
  'SUBMITTED>STOPPING',
  'RUNNING>DONE',
  'RUNNING>ERROR',
  'RUNNING>TERMINATED',
  'RUNNING>STOPPING',
  'STOPPING>STOPPED',
  'STOPPING>KILLING',
  'STOPPING>KILLED',
  'STOPPING>DONE',
  'STOPPING>ERROR',
  'STOPPING>TERMINATED',
  'KILLING>KILLED',
  'KILLING>STOPPED',
  'KILLING>DONE',
  'KILLING>ERROR',
  'KILLING>TERMINATED',
]);

describe('run states', () => {
  it.each(RUN_STATUSES.flatMap((from) => RUN_STATUSES.map((to) => [from, to] as const)))('%s to %s', (from, to) => {
    expect(runMayBecome(from, to)).toBe(ALLOWED.has(`${from}>${to}`));
  });

  it('has five final states and two stoppable ones', () => {
    expect(RUN_STATUSES.filter(isFinished)).toEqual(['DONE', 'ERROR', 'TERMINATED', 'STOPPED', 'KILLED']);
    expect(STOPPABLE).toEqual(['SUBMITTED', 'RUNNING']);
  });
});

describe('statusBehind', () => {
  it.each([
    ['job', JOB, [null, 'RUNNING', 'STOPPING', 'KILLING', null]],
    ['notebook', NOTEBOOK, ['RUNNING', 'RUNNING', 'STOPPING', 'KILLING', null]],
    ['function', FUNCTION, [null, null, 'STOPPING', 'KILLING', null]],
    ['SQL server', SQL_SERVER, [null, null, 'STOPPING', 'KILLING', null]],
  ] as const)('maps the states of a %s', (_name, kind, expected) => {
    const states = ['accepted', 'running', 'stopping', 'killing', 'ended'] as const;
    expect(states.map((state) => statusBehind(state, kind.runningOnce))).toEqual(expected);
  });
});
