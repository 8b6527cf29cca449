import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstNames, readTail, readText, removeTrees } from './files';

describe('files that a job may have created', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'files-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const at = (name: string): string => join(folder, name);

  it('are read only if they are regular: links are not followed, pipes do not block, devices stay closed', () => {
    writeFileSync(at('secret'), 'secret');
    symlinkSync(at('secret'), at('link'));
    execFileSync('mkfifo', [at('pipe')]);
    mkdirSync(at('folder'));
    for (const name of ['link', 'pipe', 'folder', 'nothing'])
      expect([name, readText(at(name)), readTail(at(name), 10).length]).toEqual([name, null, 0]);
    expect(readText('/dev/zero')).toBeNull();
    expect(readText(at('secret'))).toBe('secret');
  });

  it('are not read beyond a limit', () => {
    writeFileSync(at('long'), 'x'.repeat(11));
    expect([readText(at('long'), 10), readTail(at('long'), 10).length]).toEqual([null, 10]);
    for (const name of ['a', 'b', 'c']) writeFileSync(at(name), '');
    expect(firstNames(folder, 2)).toHaveLength(2);
  });

  it('are removed, including closed and deep folders, and links without their targets', async () => {
    writeFileSync(at('kept'), '');
    mkdirSync(at('tree/closed/inner'), { recursive: true });
    symlinkSync(at('kept'), at('tree/link'));
    chmodSync(at('tree/closed'), 0o000);
    await removeTrees([at('tree')]);
    expect([existsSync(at('tree')), existsSync(at('kept'))]).toEqual([false, true]);
  });
});
