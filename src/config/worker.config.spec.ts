import { EnvReader } from './env-reader';
import { readWorkerConfig } from './worker.config';

function queuesOf(text?: string): string[] {
  const env = new EnvReader({ WORKER_QUEUES: text });
  const { queues } = readWorkerConfig(env);
  env.assertValid();
  return queues;
}

describe('the queues of a worker', () => {
  it('are all of them, or those that are named, each once', () => {
    expect(queuesOf()).toEqual(['cluster-lifecycle', 'jobs']);
    expect(queuesOf(' jobs, jobs')).toEqual(['jobs']);
  });

  it.each(['job', 'jobs,mail', 'none'])('are not %j, which the start refuses with the other variables', (text) =>
    expect(() => queuesOf(text)).toThrow('WORKER_QUEUES must'),
  );
});
