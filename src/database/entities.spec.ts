import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ENTITIES } from './entities';
import { MIGRATIONS } from './migrations';

const SOURCES = join(__dirname, '..');

function textsOf(names: RegExp): string[] {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' });
  return files.filter((name) => names.test(name)).map((name) => readFileSync(join(SOURCES, name), 'utf8'));
}

describe('The data source', () => {
  it('has every class of an entity file except base classes', () => {
    const texts = textsOf(/\.entity\.ts$/);
    const declared = texts.flatMap((text) => [...text.matchAll(/^(?:export )?class (\w+)/gm)].map(([, name]) => name));
    const names = ENTITIES.map(({ name }) => name);
    expect(declared.length).toBeGreaterThan(70);
    expect(names).toEqual(expect.arrayContaining(declared));
    expect(new Set(names).size).toBe(names.length);
  });

  it('has no entity in another file', () => {
    const others = textsOf(/(?<!\.(entity|spec))\.ts$/);
    expect(others.filter((text) => /^@Entity\(/m.test(text))).toEqual([]);
  });

  it('has the migrations of the folder, oldest first', () => {
    const times = MIGRATIONS.map(({ name }) => Number(name.slice(-13)));
    expect(times).toHaveLength(readdirSync(join(SOURCES, 'database', 'migrations')).length);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
  });
});
