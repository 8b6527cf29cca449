import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../../test/harness/eventually';

/** Python gained what the program needs in 3.9. */
const hasPython = spawnSync('python3', ['-c', 'import os; os.pidfd_open']).status === 0;

(hasPython ? describe : describe.skip)('python_zygote.py', () => {
  let folder: string;
  let zygote: ChildProcess;
  let env: Record<string, string>;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'zygote-'));
    for (const name of ['bridge', 'lib/pyspark', 'work']) mkdirSync(`${folder}/${name}`, { recursive: true });
    copyFileSync(join(__dirname, 'python_zygote.py'), `${folder}/bridge/python_zygote.py`);
    for (const name of ['sql/__init__', 'sql/functions', 'sql/types', '__init__', 'java_gateway']) {
      mkdirSync(`${folder}/lib/pyspark/sql`, { recursive: true });
      writeFileSync(`${folder}/lib/pyspark/${name}.py`, 'import os\nLOADED_BY = os.getpid()\n');
    }
    execFileSync(
      'mkfifo',
      ['ask', 'answer'].map((name) => `${folder}/bridge/${name}`),
    );
    const shim = `echo $$ >'${folder}/bridge/ask'\nread -r code <'${folder}/bridge/answer'\nexit "$code"\n`;
    for (const name of ['python', 'python-merged']) writeFileSync(`${folder}/${name}`, shim);
    env = { PATH: process.env['PATH'] ?? '', PYTHONPATH: `${folder}/lib`, PYTHONUNBUFFERED: '1', LANG: 'C.UTF-8' };
    const output = (name: string): number => openSync(`${folder}/${name}`, 'a');
    zygote = spawn('python3', [`${folder}/bridge/python_zygote.py`], {
      cwd: `${folder}/work`,
      env,
      stdio: ['pipe', output('stdout'), output('stderr')],
    });
  });

  afterEach(async () => {
    const ended = zygote.exitCode === null && zygote.signalCode === null ? once(zygote, 'exit') : null;
    zygote.stdin?.end();
    await ended;
    rmSync(folder, { recursive: true });
  });

  const run = (source: string, { args = [] as string[], variables = {}, shim = 'python', name = 'job.py' } = {}) => {
    writeFileSync(`${folder}/${name}`, source);
    const { status } = spawnSync('/bin/sh', [`${folder}/${shim}`, `${folder}/${name}`, ...args], {
      cwd: `${folder}/work`,
      env: { ...env, ...variables },
      timeout: 20_000,
    });
    const [stdout = '', stderr = ''] = ['stdout', 'stderr'].map((file) => readFileSync(`${folder}/${file}`, 'utf8'));
    return { status, stdout, stderr };
  };
  const IS_FORKED = 'import os, pyspark\nprint(pyspark.LOADED_BY != os.getpid())\n';

  it('runs a program with its arguments, environment and folder, and with the modules that are loaded', () => {
    const source = `${IS_FORKED}import sys\nprint(__name__, sys.argv[1:], os.environ['MINE'], os.path.basename(os.getcwd()))`;
    const { status, stdout } = run(source, { args: ['a b', "it's"], variables: { MINE: 'x=y' } });
    expect({ status, stdout }).toEqual({ status: 0, stdout: `True\n__main__ ['a b', "it's"] x=y work\n` });
  });

  it('ends as the program does', () => {
    expect(run('import sys; sys.exit(7)').status).toBe(7);
    expect(run('import sys; sys.exit("why")')).toMatchObject({ status: 1, stderr: 'why\n' });
    expect(run('import os, signal; os.kill(os.getpid(), signal.SIGKILL)').status).toBe(137);
    expect(run('import atexit; atexit.register(print, "at exit")')).toMatchObject({ status: 0, stdout: 'at exit\n' });
  });

  it('shows an error as Python does, without its own frames', () => {
    const { status, stderr } = run('def f():\n    raise ValueError("why")\n\nf()\n');
    expect(status).toBe(1);
    expect(stderr.replaceAll(/^ +[~^]+\n/gm, '')).toBe(
      `Traceback (most recent call last):\n  File "${folder}/job.py", line 4, in <module>\n    f()\n` +
        `  File "${folder}/job.py", line 2, in f\n    raise ValueError("why")\nValueError: why\n`,
    );
  });

  it('merges the streams if the name of the shim says so', () => {
    const source = 'import sys; print("error", file=sys.stderr)';
    expect(run(source, { shim: 'python-merged' })).toMatchObject({ stdout: 'error\n', stderr: '' });
  });

  it.each([
    ['a variable that Python reads when it starts', { variables: { PYTHONOPTIMIZE: '1' } }],
    ['another PySpark', { variables: { PYTHONPATH: '/nowhere' } }],
    ['a program of another kind', { name: 'job' }],
  ])('is a fresh interpreter for %s', (_what, change) => {
    const { stdout } = run('import sys, os\nprint("pyspark" in sys.modules, sys.flags.optimize)', change);
    expect(stdout).toBe(`False ${'variables' in change && 'PYTHONOPTIMIZE' in change.variables ? 1 : 0}\n`);
  });

  it('is a fresh interpreter if a module beside the program has the name of one that is loaded', () => {
    writeFileSync(`${folder}/select.py`, 'MINE = True\n');
    expect(run('import select\nprint(select.MINE)').stdout).toBe('True\n');
  });

  it('ends, and ends who asks, when its input does', async () => {
    writeFileSync(`${folder}/job.py`, 'import time\nopen("begun", "w").close()\ntime.sleep(20)');
    const asker = spawn('/bin/sh', [`${folder}/python`, `${folder}/job.py`], {
      cwd: `${folder}/work`,
      env,
      stdio: 'ignore',
    });
    const ended = once(asker, 'exit');
    while (spawnSync('test', ['-e', `${folder}/work/begun`]).status !== 0)
      await new Promise((done) => setTimeout(done, 50));
    zygote.stdin?.end();
    expect((await ended)[1]).toBe('SIGKILL');
  });

  it('gives the channel to a program that serves a run, and ends as it does after the JVM has ended', async () => {
    zygote.stdin?.end();
    await once(zygote, 'exit');
    const path = (name: string): string => `${folder}/${name}`;
    writeFileSync(path('requests'), 'a request');
    writeFileSync(path('python-serving'), readFileSync(path('python')));
    const program = `
import os, signal, sys, time
answer = '%r to %s' % ((os.environ.get('PYTHONPATH'), signal.getsignal(signal.SIGTERM), sys.stdin.read()), os.pread(3, 99, 0).decode())
os.write(4, answer.encode())
while not os.path.exists('go'):
    time.sleep(0.01)
sys.exit(9)
`;
    writeFileSync(path('serve.py'), program);
    const fds = [openSync(path('requests'), 'r'), openSync(path('frames'), 'a')];
    const [stdout, stderr] = [openSync(path('stdout'), 'a'), openSync(path('stderr'), 'a')];
    // The shell stands for the JVM, whose end is that of the input.
    zygote = spawn('/bin/sh', ['-c', `python3 '${path('bridge/python_zygote.py')}' channel; exit $?`], {
      cwd: path('work'),
      env,
      stdio: ['pipe', stdout, stderr, ...fds],
    });
    const asker = spawn('/bin/sh', [path('python-serving'), path('serve.py')], {
      cwd: path('work'),
      env: { ...env, PYTHONPATH: `${env['PYTHONPATH']}:/of/workers`, BRIDGE_PYTHONPATH: '/own' },
      stdio: 'ignore',
    });
    const askerEnded = once(asker, 'exit');
    const frames = (): string => readFileSync(path('frames'), 'utf8');
    await eventually(() => frames() !== '', { what: 'an answer' });
    expect(frames()).toBe("('/own', <Handlers.SIG_DFL: 0>, '') to a request");
    expect(existsSync(path('bridge/serving'))).toBe(true);
    zygote.stdin?.end();
    expect(await askerEnded).toEqual([null, 'SIGKILL']);
    writeFileSync(path('work/go'), '');
    expect(execFileSync('cat', [path('bridge/answer')], { encoding: 'utf8', timeout: 20_000 })).toBe('9\n');
    expect(readFileSync(path('bridge/served'), 'utf8')).toBe('9\n');
    expect(existsSync(path('bridge/serving'))).toBe(false);
  });
});
