import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(__dirname, '..', '..');
const RUNTIME = join(ROOT, 'test', 'runtime');

/** Returns the output of Jest for files of test/fixtures/runtime that share one process. */
function run(...names: string[]): string {
  return runBy(['--runInBand'], ...names);
}

function runBy(workers: string[], ...names: string[]): string {
  const config = {
    rootDir: join(ROOT, 'test', 'fixtures', 'runtime'),
    testMatch: names.map((name) => `<rootDir>/${name}.fixture.ts`),
    runtime: join(RUNTIME, 'runtime.cjs'),
    testEnvironment: join(RUNTIME, 'environment.cjs'),
    transform: {},
    moduleFileExtensions: ['ts', 'js', 'json'],
  };
  const jest = join(ROOT, 'node_modules', '.bin', 'jest');
  const options = ['--config', JSON.stringify(config), ...workers, '--ci', '--forceExit'];
  const { stdout, stderr } = spawnSync(process.execPath, [jest, ...options], { encoding: 'utf8', timeout: 60_000 });
  return stdout + stderr;
}

describe('files that share a process', () => {
  it('share its modules and find a clean process, and a file that replaces a module has its own copy', () => {
    const output = run('first', 'second', 'replaced');
    expect(output).toContain('Tests:       7 passed, 7 total');
  });

  it('fail if they leave a server or a listener behind', () => {
    const output = run('server');
    expect(output).toContain('leaves behind: listeners for SIGHUP (1); open TCPServerWrap (1).');
    expect(output).toContain('Test Suites: 1 failed, 1 total');
  });

  it('have timeouts, and failures that name source lines', () => {
    const output = run('slow');
    expect(output).toContain('Exceeded timeout of 200 ms');
    expect(output).toContain('(slow.fixture.ts:6:9)');
  });

  it('fail if they leave functions of Node or the process changed, which are restored for the next file', () => {
    const output = run('patched', 'second');
    expect(output).toContain('leaves behind: another Math.random; another umask; another title of the process.');
    expect(output).toContain('Test Suites: 1 failed, 1 passed, 2 total');
  });

  it('report why they cannot be loaded, and leave nothing behind', () => {
    const output = run('unloadable', 'second');
    expect(output).toContain('This file cannot be loaded.');
    expect(output).not.toContain('leaves behind');
    expect(output).toContain('Test Suites: 1 failed, 1 passed, 2 total');
  });

  it('report the failed test rather than its leftovers', () => {
    const output = run('failing');
    expect(output).toContain('fails before it closes what it opened');
    expect(output).not.toContain('leaves behind');
    expect(output).toContain('Tests:       1 failed, 1 total');
  });

  it('log errors after their end, which belong to no test', () => {
    const folder = mkdtempSync(join(tmpdir(), 'late-errors-'));
    const file = join(folder, 'late-errors');
    process.env['TEST_LATE_ERRORS'] = file;
    try {
      expect(runBy(['--maxWorkers=2'], 'late', 'patient')).toContain('2 passed, 2 total');
      expect(readFileSync(file, 'utf8')).toMatch(/Error: too late\n +at .*late[.]fixture[.]ts/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
