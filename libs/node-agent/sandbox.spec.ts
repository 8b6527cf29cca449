import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { type Confinement, Sandbox, visiblePaths } from './sandbox';

const KINDS: Confinement[] = [
  { kind: 'none' },
  ...(process.getuid?.() === 0 ? [{ kind: 'users' as const, firstUid: 1_900_010_000, uids: 2, bubblewrap: null }] : []),
];

describe('visiblePaths', () => {
  let root: string;

  beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'visible-')));
  });
  afterEach(() => rmSync(root, { recursive: true }));

  const folder = (name: string): string => {
    mkdirSync(join(root, name), { recursive: true });
    return join(root, name);
  };

  it('are the paths, the targets of their links, and the Python that an environment was created from', () => {
    const base = folder('python/bin');
    writeFileSync(join(base, 'python3'), '');
    const environment = folder('venv/bin');
    symlinkSync(join(base, 'python3'), join(environment, 'python'));
    writeFileSync(join(root, 'venv/pyvenv.cfg'), `home = ${base}\n`);
    const spark = folder('venv/lib/spark');
    folder('spark-3.5');
    symlinkSync('spark-3.5', join(root, 'spark'));
    const paths = [spark, join(root, 'spark'), join(root, 'absent'), null, '/usr/lib/jvm'];
    const python = join(environment, 'python');
    const expected = ['python', 'spark', 'spark-3.5', 'venv'].map((name) => join(root, name));
    expect(visiblePaths({ paths, python })).toEqual(expected);
  });

  it('are absolute if they were relative to the working directory, which is not visible itself', () => {
    const spark = relative(process.cwd(), folder('spark'));
    expect(visiblePaths({ paths: [spark], python: 'python3' })).toEqual([join(root, 'spark')]);
  });

  it('never include the whole machine', () => {
    expect(visiblePaths({ paths: ['/'], python: '/python' })).toEqual([]);
  });
});

describe('a sandbox', () => {
  it('has absolute paths even if the agent has relative ones', () => {
    const root = mkdtempSync(join(tmpdir(), 'sandbox-'));
    const near = (name: string) => relative(process.cwd(), join(root, name));
    const place = { dir: near('run'), index: 1, visible: [near('spark')], shared: [near('jars')], mark: root };
    const sandbox = new Sandbox({ kind: 'namespaces', bubblewrap: 'bwrap' }, place);
    sandbox.create([]);
    const argv = sandbox.launch('test', ['id'], {});
    rmSync(root, { recursive: true });
    const bound = argv.flatMap((argument, index) => (/^--(?:ro-)?bind/.test(argument) ? [argv[index + 1]] : []));
    expect(bound).toEqual(expect.arrayContaining(['run/box', 'spark', 'jars'].map((name) => join(root, name))));
    expect(bound.filter((path) => !path?.startsWith('/'))).toEqual([]);
  });
});

describe.each(KINDS)('a sandbox of %j', (confinement) => {
  let root: string;
  let sandbox: Sandbox;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'sandbox-'));
    chmodSync(root, 0o711);
    sandbox = new Sandbox(confinement, { dir: join(root, 'run'), index: 1, visible: [], shared: [], mark: root });
    sandbox.create(['work']);
    sandbox.chownBox();
  });
  afterEach(() => rmSync(root, { recursive: true }));

  const run = async (argv: string[], env: Record<string, string>): Promise<string> => {
    const [program = '', ...args] = sandbox.launch('test', argv, env, 'work');
    const { stdout } = await promisify(execFile)(program, args, { env: sandbox.environment() });
    return stdout;
  };

  it('passes exactly the given variables, whatever they contain', async () => {
    const value = `'"$(id)\`id\`\n\\n; exit 1 #`;
    const output = await run(['/bin/sh', '-c', 'printf %s "$GIVEN"; echo; pwd; echo "[$NOT]"'], { GIVEN: value });
    expect(output).toBe(`${value}\n${sandbox.box}/work\n[]\n`);
  });

  it('does not show them on a command line', () => {
    expect(sandbox.launch('test', ['true'], { SECRET: 'secret value' }).join(' ')).not.toContain('secret value');
  });

  it('reads a file with its own permissions, bounded in bytes and in time', async () => {
    const file = join(root, 'file');
    writeFileSync(file, 'content');
    expect(await sandbox.read(file, 100, 5_000)).toBe('content');
    expect(await sandbox.read(file, 6, 5_000)).toBeNull();
    expect(await sandbox.read(join(root, 'absent'), 100, 5_000)).toBeNull();
    expect(await sandbox.read('/dev/zero', 1_000_000, 5_000)).toBeNull();
    const pipe = join(root, 'pipe');
    await promisify(execFile)('mkfifo', ['-m', '666', pipe]);
    expect(await sandbox.read(pipe, 100, 200)).toBeNull();
    chmodSync(file, 0o600);
    expect(await sandbox.read(file, 100, 5_000)).toBe(confinement.kind === 'users' ? null : 'content');
  });
});
