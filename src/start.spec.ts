import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// The start file is built as the build does it, in front of a bundle of a few lines.
describe('a start file', () => {
  let dist: string;
  const cacheFolder = () => join(dist, '.compile-cache');
  const caches = () => readdirSync(cacheFolder()).filter((name) => name.startsWith('program.js-'));

  beforeEach(() => {
    dist = mkdtempSync(join(tmpdir(), 'start-'));
    mkdirSync(join(dist, 'bundle'));
  });
  afterEach(() => rmSync(dist, { recursive: true, force: true }));

  const bundle = async (text: string) => {
    const { bundleStart } = await import('../scripts/build/bundle.mjs');
    writeFileSync(join(dist, 'bundle', 'program.js'), text);
    await bundleStart(join(__dirname, 'start.ts'), dist, 'program');
  };
  const run = (env: Record<string, string> = {}) =>
    execFileSync(process.execPath, [join(dist, 'program.js')], { encoding: 'utf8', env: { ...process.env, ...env } });

  it('runs the bundle as a module, and caches the code that V8 compiled', async () => {
    await bundle(`const late = () => require('./other');
      console.log(__filename, __dirname, module.filename, late());`);
    writeFileSync(join(dist, 'bundle', 'other.js'), `module.exports = 'found';`);
    const file = join(dist, 'bundle', 'program.js');
    const output = `${file} ${join(dist, 'bundle')} ${file} found\n`;
    expect(run()).toBe(output);
    expect(caches()).toHaveLength(1);
    expect(run()).toBe(output);
    expect(caches()).toHaveLength(1);
  });

  it('ignores the cache of another bundle of the same length and a damaged cache, and keeps a single cache', async () => {
    await bundle('console.log("one")');
    run();
    const first = caches();
    await bundle('console.log("two")');
    expect(run()).toBe('two\n');
    const [second, ...others] = caches();
    expect([first.includes(String(second)), others]).toEqual([false, []]);
    const file = join(cacheFolder(), String(second));
    const sound = readFileSync(file);
    const flipped = [0, 100, sound.length - 10].map((at) =>
      Buffer.from(sound.map((byte, index) => (index === at ? byte ^ 1 : byte))),
    );
    for (const damaged of [Buffer.from('damaged'), Buffer.alloc(0), sound.subarray(0, -1), ...flipped]) {
      writeFileSync(file, damaged);
      expect(run()).toBe('two\n');
      expect(readFileSync(file)).not.toEqual(damaged);
    }
  });

  it('has a trace of every error, even of one whose name cannot be read', async () => {
    await bundle(`const error = new Error('lost');
      Object.defineProperty(error, 'name', { get() { throw new TypeError('no name'); } });
      console.log(error.stack);`);
    expect(run()).toMatch(/^Error\n +at .*program\.js/);
  });

  it('runs if it may not write its folder, and if the cache is disabled', async () => {
    await bundle('console.log("here")');
    expect(run({ NODE_DISABLE_COMPILE_CACHE: '1' })).toBe('here\n');
    writeFileSync(cacheFolder(), 'no folder');
    expect(run()).toBe('here\n');
  });
});
