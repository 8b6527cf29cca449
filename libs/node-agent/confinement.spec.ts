import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chooseConfinement } from './confinement';

describe('chooseConfinement', () => {
  let dir: string;

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'confinement-'));
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  it('removes the folders of a process that died during a probe, and not those of running probes', async () => {
    for (const name of ['.confinement-left', '.confinement-new', 'node'])
      mkdirSync(join(dir, name, 'box'), { recursive: true });
    for (const name of ['.confinement-left', 'node']) utimesSync(join(dir, name), 0, 0);
    const needed = { paths: [], python: process.execPath };
    await chooseConfinement({ bubblewrap: 'none', firstUid: 0, uids: 0, dir, needed });
    expect(readdirSync(dir).sort()).toEqual(['.confinement-new', 'node']);
  });
});
