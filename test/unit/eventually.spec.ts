import { eventually } from '../harness/eventually';

describe('eventually', () => {
  it('returns the first value that is neither false nor missing', async () => {
    const answers = [false, undefined, null, 0];
    await expect(eventually(() => answers.shift(), { everyMs: 1 })).resolves.toBe(0);
  });

  it('retries after a failure', async () => {
    let tries = 0;
    const probe = () => {
      tries += 1;
      if (tries < 3) throw new Error('not yet');
      return Promise.resolve('done');
    };
    await expect(eventually(probe, { everyMs: 1 })).resolves.toBe('done');
  });

  it('names the awaited event and the last failure after the timeout', async () => {
    const probe = () => Promise.reject(new Error('refused'));
    await expect(eventually(probe, { timeoutMs: 20, everyMs: 5, what: 'a healthy API' })).rejects.toThrow(
      'a healthy API not reached within 20 ms: refused',
    );
  });
});
