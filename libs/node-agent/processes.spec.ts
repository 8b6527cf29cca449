import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tryLock } from './processes';

describe('tryLock', () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'lock-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('is had by one at a time, and again once it is given back', async () => {
    const file = join(folder, 'lock');
    const release = await tryLock(file);
    expect([typeof release, await tryLock(file)]).toEqual(['function', null]);
    await release?.();
    const again = await tryLock(file);
    expect(again).not.toBeNull();
    await again?.();
  });
});
