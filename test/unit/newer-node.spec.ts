import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../harness/eventually';

const ROOT = join(__dirname, '..', '..');
const pinned = JSON.parse(readFileSync(join(ROOT, 'scripts', 'embedded', 'node', 'package.json'), 'utf8')) as {
  optionalDependencies: Record<string, string>;
};
const [NEWER = ''] = Object.values(pinned.optionalDependencies);

/** Stands in for npm: installs the program below if it exists. */
const NPM = `
const { cpSync, existsSync, mkdirSync } = require('node:fs');
const programs = 'node_modules/node-' + process.platform + '-' + process.arch + '/bin';
mkdirSync(programs, { recursive: true });
if (existsSync(__dirname + '/node')) cpSync(__dirname + '/node', programs + '/node');
`;

/** Stands in for the newer Node. With --wait it runs until a signal or the removal of its file. */
const NODE = `#!/bin/sh
[ "$1" = --version ] && echo "v${NEWER}" && exit 0
trap 'exit 9' TERM
echo "newer: $*"
case "$*" in *--wait*) while [ -e "$0" ]; do sleep 0.1; done ;; esac
exit 7
`;

describe('a script of the platform', () => {
  let folder: string;
  let child: ChildProcess;
  let output: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'newer-node-'));
    writeFileSync(join(folder, 'npm.js'), NPM);
  });

  afterEach(() => {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });

  /** @param version that Node claims to have */
  function start(version: string, ...args: string[]): Promise<unknown> {
    const preload = join(folder, 'preload.cjs');
    const versions = `{ ...process.versions, node: '${version}' }`;
    writeFileSync(preload, `Object.defineProperty(process, 'versions', { value: ${versions} });`);
    const { npm_lifecycle_event: _npm, ...inherited } = process.env;
    const env = { ...inherited, RUNTIME_DIR: join(folder, 'runtime'), npm_execpath: join(folder, 'npm.js') };
    const script = join(ROOT, 'scripts', 'chaos.mjs');
    child = spawn(process.execPath, ['--require', preload, script, '--schedule', ...args], { env });
    output = '';
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
    return once(child, 'close').then(([code, signal]: unknown[]) => code ?? signal);
  }

  const offerNewer = (): void => writeFileSync(join(folder, 'node'), NODE, { mode: 0o755 });

  it.each(['18.20.8', '20.18.3'])('does not start on Node %s, and prints what to do', async (version) => {
    offerNewer();
    expect(await start(version)).toBe(1);
    expect(output).toBe(
      `chaos failed: This is Node ${version}, but 20.19 or newer is needed. Install Node 24; from 20.19 on, it is fetched for you.\n`,
    );
  });

  it.each(['22.13.0', '24.0.0', '26.1.0'])('runs on Node %s', async (version) => {
    offerNewer();
    expect(await start(version)).toBe(0);
    expect(output).not.toContain('Node');
  });

  it.each(['20.19.0', '21.7.3', '22.12.0'])(
    'on Node %s runs on a newer one, and ends with the same exit code',
    async (version) => {
      offerNewer();
      expect(await start(version, '--seed=3')).toBe(7);
      expect(output).toContain(`Node ${version} is no longer maintained; running on Node ${NEWER} from`);
      expect(output).toMatch(/^newer: .*chaos\.mjs --schedule --seed=3$/m);
    },
  );

  it('downloads the newer Node once', async () => {
    offerNewer();
    await start('20.19.0');
    expect(output).toContain(`Fetching Node ${NEWER}`);
    await start('20.19.0');
    expect(output).not.toContain('Fetching');
    expect(output).toContain('newer: ');
  });

  it('forwards signals', async () => {
    offerNewer();
    const ended = start('20.19.0', '--wait');
    await eventually(() => output.includes('newer: '), { what: 'the newer one' });
    child.kill('SIGTERM');
    expect(await ended).toBe(9);
  });

  it('continues on its own Node if no newer one can be installed', async () => {
    expect(await start('20.19.0')).toBe(0);
    expect(output).toMatch(
      /^Node 20\.19\.0 is .*could not be installed \(npm did not install .*\); continuing on 20\.19\.0\./m,
    );
    expect(output).toMatch(/^ +\d+\.\d s /m);
  });
});
