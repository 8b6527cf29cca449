import { EventLogReader, MAX_EXECUTORS, MAX_STAGES } from './event-log';

const line = (event: string, more: object): string =>
  `${JSON.stringify({ Event: `SparkListener${event}`, ...more })}\n`;
const started = line('ApplicationStart', { 'App Name': 'a', 'App ID': 'local-1', Timestamp: 1_000 });
const stage = (id: number, more: object = {}) => ({
  'Stage Info': {
    'Stage ID': id,
    'Stage Attempt ID': 0,
    'Stage Name': `count at ${id}`,
    'Number of Tasks': 2,
    'Submission Time': 2_000,
    ...more,
  },
});
const task = (more: { stage?: number; executor?: string; info?: object; metrics?: object } = {}) =>
  line('TaskEnd', {
    'Stage ID': more.stage ?? 0,
    'Stage Attempt ID': 0,
    'Task Info': { 'Executor ID': more.executor ?? '1', Host: 'h', 'Finish Time': 2_500, Failed: false, ...more.info },
    'Task Executor Metrics': { JVMHeapMemory: 300, JVMOffHeapMemory: 30 },
    'Task Metrics': {
      'JVM GC Time': 7,
      'Memory Bytes Spilled': 99,
      'Disk Bytes Spilled': 5,
      'Shuffle Read Metrics': { 'Remote Bytes Read': 10, 'Local Bytes Read': 1 },
      'Shuffle Write Metrics': { 'Shuffle Bytes Written': 20 },
      'Input Metrics': { 'Bytes Read': 30 },
      'Output Metrics': { 'Bytes Written': 40 },
      ...more.metrics,
    },
  });
const executor = (id: string) =>
  line('ExecutorAdded', { Timestamp: 1_500, 'Executor ID': id, 'Executor Info': { Host: 'h', 'Total Cores': 2 } });

const read = (text: string, pieces = 1_000_000): EventLogReader => {
  const reader = new EventLogReader();
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += pieces) reader.add(bytes.subarray(at, at + pieces));
  return reader;
};

const WHOLE = [
  '{"Event":"SparkListenerLogStart","Spark Version":"3.5.9"}\n',
  executor('1'),
  started,
  line('BlockManagerAdded', { 'Block Manager ID': { 'Executor ID': 'driver', Host: 'd', Port: 1 }, Timestamp: 1 }),
  line('StageSubmitted', stage(0)),
  task(),
  task({ info: { Failed: true, 'Finish Time': 3_900 } }),
  line('StageExecutorMetrics', {
    'Executor ID': 'driver',
    'Stage ID': 0,
    'Stage Attempt ID': 0,
    'Executor Metrics': { JVMHeapMemory: 1_000, JVMOffHeapMemory: 1 },
  }),
  line('StageCompleted', stage(0, { 'Completion Time': 4_000 })),
  line('ApplicationEnd', { Timestamp: 9_000 }),
].join('');

const WORK = {
  tasks: 2,
  failed_tasks: 1,
  input_bytes: 60,
  output_bytes: 80,
  shuffle_read_bytes: 22,
  shuffle_write_bytes: 40,
  spilled_bytes: 10,
};

describe('EventLogReader', () => {
  it.each([1, 7, 1_000_000])('sums up what stages, executors and the application did, in pieces of %i', (pieces) => {
    const reader = read(WHOLE, pieces);
    expect(reader.offset).toBe(WHOLE.length);
    expect(reader.metrics(true)).toEqual({
      stages: [
        {
          stage_id: 0,
          attempt: 0,
          name: 'count at 0',
          status: 'COMPLETE',
          planned_tasks: 2,
          start_date: new Date(2_000),
          duration_ms: 2_000,
          ...WORK,
        },
      ],
      executors: [
        { executor_id: '1', host: 'h', cores: 2, peak_memory_bytes: 330, gc_ms: 14, tasks: 2 },
        { executor_id: 'driver', host: 'd', cores: 0, peak_memory_bytes: 1_001, gc_ms: 0, tasks: 0 },
      ],
      totals: { ...WORK, gc_ms: 14, duration_ms: 8_000 },
    });
  });

  it('shows what is running so far', () => {
    const reader = read(started + line('StageSubmitted', stage(0)) + task());
    const [running] = reader.metrics(false).stages;
    expect(running).toMatchObject({ status: 'ACTIVE', tasks: 1, planned_tasks: 2, duration_ms: 500 });
    expect(reader.metrics(true).stages[0]).toMatchObject({ status: 'ABORTED' });
    reader.add(Buffer.from(line('StageCompleted', stage(0, { 'Completion Time': 4_000, 'Failure Reason': 'x' }))));
    expect(reader.metrics(false).stages[0]).toMatchObject({ status: 'FAILED', tasks: 1, duration_ms: 2_000 });
  });

  it('shows the stages of a Spark job before they start, and drops those that it skipped', () => {
    const infos = [0, 1, 2].map((id) => stage(id)['Stage Info']);
    const job = line('JobStart', { 'Job ID': 4, 'Submission Time': 1_900, 'Stage Infos': infos });
    const reader = read(started + line('StageSubmitted', stage(0)) + job + task({ stage: 2 }));
    const statuses = (isOver: boolean) => reader.metrics(isOver).stages.map(({ status }) => status);
    expect(statuses(false)).toEqual(['ACTIVE', 'PENDING', 'ACTIVE']);
    expect(reader.metrics(false).stages[1]).toMatchObject({ name: 'count at 1', planned_tasks: 2, tasks: 0 });
    expect(statuses(true)).toEqual(['ABORTED', 'ABORTED', 'ABORTED']);
    reader.add(Buffer.from(line('JobEnd', { 'Job ID': 4, 'Completion Time': 3_000 })));
    expect(statuses(false)).toEqual(['ACTIVE', 'ACTIVE']);
  });

  it('keeps a stage that was dropped while pending and started later, when its job ends', () => {
    const begin = (job: number, ids: number[]) =>
      line('JobStart', { 'Job ID': job, 'Stage Infos': ids.map((id) => stage(id)['Stage Info']) });
    const many = Array.from({ length: MAX_STAGES }, (_, index) => index + 10);
    const end = line('JobEnd', { 'Job ID': 1 });
    const reader = read(begin(1, [0, 1]) + begin(2, many) + line('StageSubmitted', stage(0)) + end);
    const { stages } = reader.metrics(false);
    expect([stages.length, stages.at(-1)]).toMatchObject([MAX_STAGES, { stage_id: 0, status: 'ACTIVE' }]);
  });

  it('does not count a killed task as failed', () => {
    expect(read(task({ info: { Failed: true, Killed: true } })).metrics(true).totals).toMatchObject({
      tasks: 1,
      failed_tasks: 0,
    });
  });

  it('is empty before the application has started', () => {
    const { stages, executors, totals } = new EventLogReader().metrics(false);
    expect([stages, executors]).toEqual([[], []]);
    expect(new Set(Object.values(totals))).toEqual(new Set([0]));
  });

  it.each([
    ['no JSON', 'not an event\n'],
    ['a line that is cut', task().slice(0, 200)],
    ['a broken event', '{"Event":"SparkListenerTaskEnd","Stage ID":\n'],
    ['an event without its parts', '{"Event":"SparkListenerApplicationEnd"}\n'],
    ['an event that is no object', '{"Event":"SparkListenerExecutorAdded","Executor Info":[1,2],"Executor ID":{}}\n'],
    [
      'a deep one',
      `{"Event":"SparkListenerExecutorAdded","Executor ID":${'['.repeat(100_000)}${']'.repeat(100_000)}}\n`,
    ],
    ['one that is too long', `{"Event":"SparkListenerTaskEnd","Stage ID":"${'x'.repeat(2 ** 21)}"}\n`],
    ['bytes that are no text', '\u0000\uffff\n\n\n'],
  ])('passes over %s', (_what, text) => {
    const around = read(WHOLE + text + (text.endsWith('\n') ? WHOLE : ''), 60_000).metrics(true);
    const alone = read(WHOLE + (text.endsWith('\n') ? WHOLE : '')).metrics(true);
    expect(around).toEqual(alone);
  });

  it('counts an invalid number as 0', () => {
    const numbers = { 'JVM GC Time': -5, 'Disk Bytes Spilled': 1e300, 'Input Metrics': { 'Bytes Read': '7' } };
    const lie = task({ metrics: numbers, info: { 'Finish Time': null, 'Executor ID': '__proto__' } });
    expect(read(lie).metrics(true).totals).toMatchObject({ gc_ms: 0, spilled_bytes: 0, input_bytes: 0, tasks: 1 });
    const huge = task({ metrics: { 'JVM GC Time': Number.MAX_SAFE_INTEGER } });
    expect(read(huge + huge).metrics(true).totals.gc_ms).toBe(Number.MAX_SAFE_INTEGER);
  });

  it('bounds the stages and executors that it keeps, and counts all', () => {
    const reader = new EventLogReader();
    for (let n = 0; n < 3_000; n += 1)
      reader.add(Buffer.from(executor(`e${n}`) + task({ stage: n, executor: `e${n}` }) + '\n'));
    const { stages, executors, totals } = reader.metrics(true);
    expect([stages.length, executors.length, totals.tasks]).toEqual([MAX_STAGES, MAX_EXECUTORS, 3_000]);
    expect([stages[0]?.stage_id, executors[0]?.executor_id]).toEqual([2_000, 'e0']);
  });
});
