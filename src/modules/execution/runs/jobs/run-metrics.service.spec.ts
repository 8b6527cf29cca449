import { Readable } from 'node:stream';
import type { WorkspaceScope } from '../../../../platform/kernel/auth/principal';
import type { LogsService } from '../../../infrastructure/storage';
import { RunMetricsService } from './run-metrics.service';
import type { RunsRepository } from './runs.repository';

const task = (stage: number): string =>
  `${JSON.stringify({ Event: 'SparkListenerTaskEnd', 'Stage ID': stage, 'Task Info': { 'Executor ID': '1' } })}\n`;

describe('RunMetricsService', () => {
  const scope = { tenantId: 't', workspace: { workspaceId: 1 } } as WorkspaceScope;
  let log: string;
  let status: string;
  let opened: { offset: number; bytes: number }[];
  let fault: Error | null;
  let service: RunMetricsService;

  beforeEach(() => {
    [log, status, opened, fault] = ['', 'RUNNING', [], null];
    const runs = { get: async () => ({ run_id: 7, status, application_id: 'local-1' }) };
    const logs = {
      open: async (_log: object, { offset = 0 }: { offset?: number }) => {
        const start = Math.min(offset, log.length);
        const rest = log.slice(start);
        opened.push({ offset, bytes: rest.length });
        const broken = fault;
        async function* content() {
          yield Buffer.from(rest.slice(0, 10));
          await new Promise((resolve) => setImmediate(resolve));
          if (broken) throw broken;
          yield Buffer.from(rest.slice(10));
        }
        return {
          name: 'events',
          sizeBytes: rest.length,
          nextOffset: start + rest.length,
          stream: Readable.from(content()),
          asError: (error: Error) => new Error(`of the store: ${error.message}`),
        };
      },
    };
    service = new RunMetricsService(runs as unknown as RunsRepository, logs as unknown as LogsService);
  });
  const metrics = () => service.metrics(scope, 7);
  const tasks = async () => (await metrics()).totals.tasks;

  it('reads only what was appended since the last read', async () => {
    expect(await metrics()).toMatchObject({ job_id: 7, job_application_id: 'local-1', stages: [], executors: [] });
    log = task(0);
    expect(await tasks()).toBe(1);
    const before = log.length;
    log += task(0) + task(1).slice(0, 20);
    expect(await tasks()).toBe(2);
    log += task(1).slice(20);
    expect(await tasks()).toBe(3);
    expect(await tasks()).toBe(3);
    expect(opened.map(({ offset }) => offset).slice(0, 3)).toEqual([0, 0, before]);
    expect(opened.at(-1)?.bytes).toBe(0);
  });

  it('reads once for concurrent requests', async () => {
    log = task(0).repeat(100);
    const answers = await Promise.all(Array.from({ length: 20 }, tasks));
    expect(new Set(answers)).toEqual(new Set([100]));
    expect(opened).toHaveLength(1);
  });

  it('starts over after a failed read, and after the log was removed', async () => {
    log = task(0).repeat(3);
    expect(await tasks()).toBe(3);
    log += task(0);
    fault = new Error('gone');
    await expect(metrics()).rejects.toThrow('of the store: gone');
    fault = null;
    expect(await tasks()).toBe(4);
    log = '';
    expect(await tasks()).toBe(0);
  });

  it('reports stages that were active at the end of the run as aborted', async () => {
    log = task(0);
    expect((await metrics()).stages).toMatchObject([{ status: 'ACTIVE' }]);
    status = 'STOPPED';
    expect((await metrics()).stages).toMatchObject([{ status: 'ABORTED' }]);
  });
});
