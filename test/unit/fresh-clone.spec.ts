import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const ROOT = resolve(__dirname, '..', '..');

describe('in a fresh clone, where no package is installed yet,', () => {
  let clone: string;

  beforeAll(() => {
    clone = mkdtempSync(join(tmpdir(), 'fresh-clone-'));
    for (const name of ['scripts', 'package.json']) cpSync(join(ROOT, name), join(clone, name), { recursive: true });
  });

  afterAll(() => rmSync(clone, { recursive: true }));

  it.each(['quickstart.mjs', 'test.mjs'])(
    '%s gets as far as its arguments',
    (script) => {
      const { stderr } = spawnSync(process.execPath, [join(clone, 'scripts', script), '--no-such-option'], {
        encoding: 'utf8',
        // An old Node downloads a newer one first.
        timeout: 120_000,
      });
      expect(stderr).toContain('--no-such-option');
      expect(stderr).not.toContain('ERR_MODULE_NOT_FOUND');
    },
    150_000,
  );
});
