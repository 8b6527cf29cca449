import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { LocalSparks, type InstalledSpark } from './local-sparks';

const INSTALLED: InstalledSpark = {
  home: '/opt/spark',
  classArchive: null,
  connectors: '/opt/connectors',
  scalaKernel: null,
  turbo: null,
};

describe('LocalSparks', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sparks-'));
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  const sparks = (script: string): LocalSparks => {
    const program = join(folder, 'install');
    writeFileSync(program, `#!/bin/sh\necho "$1" >> '${folder}/calls'\n${script}\n`, { mode: 0o755 });
    return new LocalSparks({ '3.5.9': INSTALLED }, { program, versions: ['4.3.0'] });
  };
  const calls = (): string[] => readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n');

  it('returns an installed Spark, and installs another once for all calls', async () => {
    const local = sparks(`echo noise; echo '{"home":"/four","connectors":"/c","class_archive":null}'`);
    expect(await local.get('3.5.9')).toBe(INSTALLED);
    const four = { home: '/four', classArchive: null, connectors: '/c', scalaKernel: null, turbo: null };
    expect(await Promise.all([local.get('4.3.0'), local.get('4.3.0')])).toEqual([four, four]);
    expect(await local.get('4.3.0')).toEqual(four);
    expect(calls()).toEqual(['4.3.0']);
  });

  it('asks callers to come again while it installs', async () => {
    const local = sparks(`while [ ! -e '${folder}/go' ]; do sleep 0.05; done; echo '{"home":"/four"}'`);
    await expect(local.get('4.3.0')).rejects.toMatchObject({
      ...{ code: 'LOCAL.SPARK_INSTALLING', kind: 'transient', retryAfterMs: 3_000 },
    });
    writeFileSync(join(folder, 'go'), '');
    const found = await local.get('4.3.0').catch(() => delay(500).then(() => local.get('4.3.0')));
    expect(found.home).toBe('/four');
    expect(calls()).toEqual(['4.3.0']);
  });

  it.each([
    ['a program that fails', 'echo "The disk is full." >&2; exit 1', 'The disk is full.'],
    ['a program that fails without a word', 'exit 3', 'ended with 3.'],
    ['no Spark', 'echo done', 'ended with 0.'],
    ['a relative path', `echo '{"home":"four"}'`, 'ended with 0.'],
  ])('reports %s, and tries again', async (_, script, reason) => {
    const local = sparks(script);
    const refusal = { code: 'LOCAL.SPARK_NOT_INSTALLED', kind: 'invalid', message: expect.stringContaining(reason) };
    await expect(local.get('4.3.0')).rejects.toMatchObject(refusal);
    await expect(local.get('4.3.0')).rejects.toMatchObject(refusal);
    expect(calls()).toHaveLength(2);
  });

  it('refuses a version that it can neither find nor install', async () => {
    await expect(sparks('exit 1').get('3.3.4')).rejects.toMatchObject({
      ...{ code: 'LOCAL.SPARK_VERSION_UNAVAILABLE', kind: 'invalid' },
      message: expect.stringContaining('3.5.9, 4.3.0'),
    });
  });
});
