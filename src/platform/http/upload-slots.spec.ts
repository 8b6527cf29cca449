import { UploadSlots } from './upload-slots';

const REFUSED = { kind: 'rate-limited', code: 'TEST.TOO_MANY', details: { retry_after_seconds: 10 } };

describe('UploadSlots', () => {
  let ends: (() => void)[];
  const slots = new UploadSlots(5, 'TEST.TOO_MANY');

  beforeEach(() => (ends = []));
  const upload = (tenantId: string) => slots.run(tenantId, () => new Promise<void>((end) => ends.push(end)));
  const endAll = () => ends.splice(0).forEach((end) => end());

  it('give one tenant at most half of the slots', async () => {
    const own = [upload('a'), upload('a'), upload('a')];
    await expect(upload('a')).rejects.toMatchObject(REFUSED);
    const others = [upload('b'), upload('c')];
    await expect(upload('d')).rejects.toMatchObject(REFUSED);
    endAll();
    await Promise.all([...own, ...others]);
  });

  it('are free again after an upload has ended or failed', async () => {
    const failed = slots.run('a', () => Promise.reject(new Error('cut off')));
    await expect(failed).rejects.toThrow('cut off');
    const own = [upload('a'), upload('a'), upload('a')];
    endAll();
    await Promise.all(own);
  });
});
