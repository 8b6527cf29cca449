import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const ROOT = join(__dirname, '..', '..');
const RUNTIME = join(ROOT, 'test', 'runtime');

/** What Jest prints of files of test/fixtures/runtime that share one process. */
function run(...names: string[]): string {
  const config = {
    rootDir: join(ROOT, 'test', 'fixtures', 'runtime'),
    testMatch: names.map((name) => `<rootDir>/${name}.fixture.ts`),
    runtime: join(RUNTIME, 'runtime.cjs'),
    testEnvironment: join(RUNTIME, 'environment.cjs'),
    transform: {},
    moduleFileExtensions: ['ts', 'js', 'json'],
  };
  const jest = join(ROOT, 'node_modules', '.bin', 'jest');
  const options = ['--config', JSON.stringify(config), '--runInBand', '--ci', '--forceExit'];
  const { stdout, stderr } = spawnSync(process.execPath, [jest, ...options], { encoding: 'utf8', timeout: 60_000 });
  return stdout + stderr;
}

describe('files that share a process', () => {
  it('share its modules and find it as the first did, and one that replaces a module has its own', () => {
    const output = run('first', 'second', 'replaced');
    expect(output).toContain('Tests:       7 passed, 7 total');
  });

  it('fail when they leave a server or a listener to the next', () => {
    const output = run('server');
    expect(output).toContain('leaves to the next one in its process: 1 listeners to SIGHUP; 1 open TCPServerWrap.');
    expect(output).toContain('Test Suites: 1 failed, 1 total');
  });

  it('have deadlines, and failures that name lines of the source', () => {
    const output = run('slow');
    expect(output).toContain('Exceeded timeout of 200 ms');
    expect(output).toContain('(slow.fixture.ts:6:9)');
  });
});
