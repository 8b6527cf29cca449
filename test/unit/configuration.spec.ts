import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Config } from '../../src/config/config';
import { ConfigurationError, EnvReader } from '../../src/config/env-reader';

const root = join(__dirname, '..', '..');
const modules = { Config, ConfigurationError, EnvReader };

/** Lists the names that src/config gives to a reader: `env.string('HOST', …)`. */
function variablesRead(): string[] {
  const folder = join(root, 'src', 'config');
  const files = readdirSync(folder).filter((name) => name.endsWith('.ts') && !name.endsWith('.spec.ts'));
  const sources = files.map((name) => readFileSync(join(folder, name), 'utf8'));
  const names = sources.flatMap((text) => [...text.matchAll(/\b(?!section\b)\w+\((?:env,)?\s*'([A-Z][A-Z0-9_]*)'/g)]);
  return [...new Set(names.map(([, name = '']) => name))].sort();
}

describe('the configuration', () => {
  it.each(['docs/configuration.md', '.env.example'])('is described in %s as in src/config', async (file) => {
    const { configurationFiles } = await import('../../scripts/configuration.mjs');
    // Stale? Run: npm run configuration
    expect(readFileSync(join(root, file), 'utf8')).toBe(configurationFiles(modules)[file]);
  });

  it('documents all variables that src/config reads', () => {
    const listed = readFileSync(join(root, '.env.example'), 'utf8').matchAll(/^(?:# )?([A-Z][A-Z0-9_]*)=/gm);
    const read = variablesRead();
    expect(read).toContain('DATABASE_URL');
    expect(Array.from(listed, ([, name = '']) => name).sort()).toEqual(read);
  });

  it('is described in sentences', () => {
    const cells = readFileSync(join(root, 'docs', 'configuration.md'), 'utf8').matchAll(/ \| ([^|]*) \|$/gm);
    const meanings = Array.from(cells, ([, meaning = '']) => meaning).filter((text) => !/^(Meaning|---)$/.test(text));
    expect(meanings.length).toBeGreaterThan(100);
    expect(meanings.filter((text) => !/^[A-Z].*[.]$/.test(text))).toEqual([]);
  });

  it('has a sample that a shell can load', () => {
    const lines = readFileSync(join(root, '.env.example'), 'utf8').split('\n');
    const values = lines.flatMap((line) => /^(?:# )?[A-Z][A-Z0-9_]*=(.*)$/.exec(line)?.slice(1) ?? []);
    expect(values.filter((value) => !/^([\w.,:/=@+-]*|'[^']*')$/.test(value))).toEqual([]);
  });
});
