import { whyNoSparkUi, whyNotStopped } from './run-states';

describe('a run', () => {
  it('can be stopped until it ends', () => {
    expect([whyNotStopped('SUBMITTED'), whyNotStopped('RUNNING')]).toEqual([null, null]);
    expect(whyNotStopped('KILLING')).toBe('The run is being ended: it is KILLING.');
    expect(whyNotStopped('DONE')).toBe('The run has ended: it is DONE.');
  });

  it('has a UI of Spark once it has an application, and after its end', () => {
    const why = (job_status: 'RUNNING' | 'DONE', job_application_id: string | null) =>
      whyNoSparkUi({ job_status, job_application_id });
    expect([why('RUNNING', 'local-1'), why('DONE', 'local-1')]).toEqual([null, null]);
    expect(why('RUNNING', null)).toBe('Spark’s UI can be shown once the run has started its Spark application.');
    expect(why('DONE', null)).toContain('has started no Spark application');
  });
});
