import { phasesOf } from './run-timelines.service';

const at = (second: number) => new Date(second * 1_000);
const state = (status: string, from: number, to: number | null = null) => ({
  status,
  start_time: at(from),
  end_time: to === null ? Infinity : at(to),
});

describe('phasesOf', () => {
  const phases = (
    times: { from: number; assigned?: number; ended?: number },
    states: ReturnType<typeof state>[],
    cluster: ReturnType<typeof state>[],
  ) =>
    phasesOf(
      {
        from_date: at(times.from),
        assigned_at: times.assigned === undefined ? null : at(times.assigned),
        ended_at: times.ended === undefined ? null : at(times.ended),
      },
      states,
      cluster,
    ).map(({ phase, from_date: from, to_date: to }) => [phase, from.getTime() / 1_000, to && to.getTime() / 1_000]);

  it('are the start of the cluster, a wait for a slot, the start of the process, and the run', () => {
    const cluster = [state('STOPPED', 1, 10), state('INITIATING', 10, 40), state('RUNNING', 40)];
    const run = [state('SUBMITTED', 10, 62), state('RUNNING', 62, 90), state('DONE', 90)];
    expect(phases({ from: 10, assigned: 60, ended: 90 }, run, cluster)).toEqual([
      ['WAITING_FOR_CLUSTER', 10, 40],
      ['WAITING_FOR_SLOT', 40, 60],
      ['STARTING', 60, 62],
      ['RUNNING', 62, 90],
    ]);
  });

  it('begin with the start of the process if a slot was free at the submission', () => {
    const run = [state('SUBMITTED', 10, 12), state('RUNNING', 12)];
    expect(phases({ from: 10, assigned: 10 }, run, [state('RUNNING', 1)])).toEqual([
      ['STARTING', 10, 12],
      ['RUNNING', 12, null],
    ]);
  });

  it('go on waiting while there is no slot, whatever resizes', () => {
    const cluster = [state('RUNNING', 1, 20), state('RESIZING_UP', 20, 30), state('RUNNING', 30)];
    expect(phases({ from: 10 }, [state('SUBMITTED', 10)], cluster)).toEqual([['WAITING_FOR_SLOT', 10, null]]);
  });

  it('end with a stop, also of a run that never started', () => {
    const cluster = [state('RUNNING', 1)];
    const stopped = [state('SUBMITTED', 10, 15), state('STOPPING', 15, 15), state('STOPPED', 15)];
    expect(phases({ from: 10, ended: 15 }, stopped, cluster)).toEqual([['WAITING_FOR_SLOT', 10, 15]]);
    const run = [state('RUNNING', 12, 20), state('STOPPING', 20, 25), state('KILLED', 25)];
    expect(phases({ from: 10, assigned: 11, ended: 25 }, run, cluster)).toEqual([
      ['WAITING_FOR_SLOT', 10, 11],
      ['STARTING', 11, 12],
      ['RUNNING', 12, 20],
      ['STOPPING', 20, 25],
    ]);
  });

  it('say that it waits if the history of the cluster is not known', () => {
    expect(phases({ from: 10 }, [], [])).toEqual([['WAITING_FOR_SLOT', 10, null]]);
  });
});
