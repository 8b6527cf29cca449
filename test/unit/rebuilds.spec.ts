import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { eventually } from '../harness/eventually';

const PROJECT = join(__dirname, '..', '..');
const [REBUILDS, COMPILE] = [
  ['embedded', 'rebuilds.mjs'],
  ['build', 'compile.mjs'],
].map((path) => pathToFileURL(join(PROJECT, 'scripts', ...path)).href);

/** Prints the messages of `Rebuilds`, and ends with its input. */
const PROGRAM = `
const { Rebuilds } = await import(${JSON.stringify(REBUILDS)});
const { compileSources: build } = await import(${JSON.stringify(COMPILE)});
const { signal } = new AbortController();
const root = process.argv[1];
const rebuilds = new Rebuilds({ print: (text) => console.log(text), signal, root, build });
await build(root);
await rebuilds.start();
console.log('started');
rebuilds.follow(async () => console.log('taken over'));
process.stdin.resume().on('end', () => rebuilds.stop().then(() => process.exit(0)));
`;

describe('Rebuilds', () => {
  let root: string;
  let child: ChildProcess;
  let output = '';

  const source = (text: string): void => writeFileSync(join(root, 'src', 'a.ts'), text);
  const built = (): string => readFileSync(join(root, 'dist', 'src', 'a.js'), 'utf8');
  const count = (text: string): number => output.split(text).length - 1;
  const printed = (text: string, times = 1): Promise<boolean> =>
    eventually(() => count(text) === times, { timeoutMs: 60_000, what: text });

  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'rebuilds-'));
    for (const folder of ['src', 'libs']) mkdirSync(join(root, folder));
    symlinkSync(join(PROJECT, 'node_modules'), join(root, 'node_modules'));
    const compilerOptions = { outDir: 'dist', rootDir: '.', target: 'es2023', module: 'nodenext', types: [] };
    writeFileSync(join(root, 'tsconfig.build.json'), JSON.stringify({ compilerOptions, include: ['src'] }));
    source('export const value: number = 1;');
    child = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM, root], { stdio: 'pipe' });
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  });

  afterAll(() => {
    child.kill('SIGKILL');
    rmSync(root, { recursive: true, force: true });
  });

  it('reports each build except the first, and keeps the last good one if the sources have errors', async () => {
    await printed('started');
    expect(built()).toContain('value = 1');

    source('export const value: number = 2;');
    await printed('taken over');
    expect(built()).toContain('value = 2');

    source("export const value: number = 'three';");
    await printed('Not built; the last good build keeps running');
    expect(output).toContain('src/a.ts(1,14): error TS2322');
    expect(built()).toContain('value = 2');

    source('export const value: number = 4;');
    await printed('taken over', 2);
    expect(built()).toContain('value = 4');

    const ended = once(child, 'exit');
    child.stdin?.end();
    expect(await ended).toEqual([0, null]);
  });
});
