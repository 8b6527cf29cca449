import { type DiscoveryService, Reflector } from '@nestjs/core';
import { defineWorkflow, type Workflow } from './workflow-definition';
import { ImplementsWorkflow, WorkflowJobs } from './workflow-jobs';
import type { WorkflowRunner } from './workflow-runner';

const PAINT = defineWorkflow({
  type: 'cosi_start',
  subject: 'cluster',
  job: { name: 'test.paint', queue: 'jobs' },
  deadlineMs: 1000,
});

class Steps implements Workflow<'cluster'> {
  readonly steps = [];
  readonly attempts = 1;
  readonly backoffMs = 0;
  readonly compensationMs = 0;
  readonly compensate = () => Promise.resolve();
  readonly giveUp = () => Promise.resolve();
}

@ImplementsWorkflow(PAINT)
class Paint extends Steps {}

@ImplementsWorkflow(PAINT)
class PaintAgain extends Steps {}

describe('WorkflowJobs', () => {
  const runner = { continue: jest.fn(() => Promise.resolve()) };

  function handlersOf(...instances: object[]) {
    const providers = instances.map((instance) => ({ metatype: instance.constructor, instance }));
    const discovery = { getProviders: () => providers } as unknown as DiscoveryService;
    return new WorkflowJobs(discovery, new Reflector(), runner as unknown as WorkflowRunner).handlers();
  }

  it('continues the instance that a job names with the steps of its workflow', async () => {
    const paint = new Paint();
    const handlers = handlersOf(new Steps(), paint);
    expect([...handlers.keys()]).toEqual(['test.paint']);
    await handlers.get('test.paint')?.({ workflow_job_instance_id: 7 });
    expect(runner.continue).toHaveBeenCalledWith(PAINT, 7, paint);
  });

  it('refuses a workflow without an implementation, and one with two', () => {
    expect(() => handlersOf()).toThrow('These workflows have no implementation: test.paint');
    expect(() => handlersOf(new Paint(), new PaintAgain())).toThrow('Workflow test.paint has two implementations');
  });

  it('refuses two definitions of one job', () => {
    const again = () =>
      defineWorkflow({
        type: 'cosi_stop',
        subject: 'cluster',
        job: { name: 'test.paint', queue: 'jobs' },
        deadlineMs: 1,
      });
    expect(again).toThrow('Job test.paint is defined twice');
  });
});
