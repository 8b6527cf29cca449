import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getMetadataArgsStorage } from 'typeorm';
import { ENTITIES } from './entities';
import { MIGRATIONS } from './migrations';

const SOURCES = join(__dirname, '..');

function sourcesIn(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'));
}

function exportsOf(folder: string, suffix: string): unknown[] {
  return sourcesIn(folder)
    .filter((name) => name.endsWith(suffix))
    .flatMap((name) => {
      // eslint-disable-next-line @typescript-eslint/no-require-imports -- the names are found here
      return Object.values(require(join(folder, name)) as Record<string, unknown>).flat();
    });
}

describe('What TypeORM is told of', () => {
  it('has the entities of all files that are named so', () => {
    const tables = new Set<unknown>(getMetadataArgsStorage().tables.map(({ target }) => target));
    const found = exportsOf(SOURCES, '.entity.ts').filter((value) => tables.has(value));
    expect(new Set<unknown>(ENTITIES)).toEqual(new Set(found));
  });

  it('has no entity in another file', () => {
    const others = sourcesIn(SOURCES).filter((name) => !/\.(entity|spec)\.ts$/.test(name));
    expect(others.filter((name) => /^@Entity\(/m.test(readFileSync(join(SOURCES, name), 'utf8')))).toEqual([]);
  });

  it('has the migrations of the folder, oldest first', () => {
    const found = exportsOf(join(SOURCES, 'database', 'migrations'), '.ts');

    expect(new Set<unknown>(MIGRATIONS)).toEqual(new Set(found));
    const times = MIGRATIONS.map(({ name }) => Number(name.slice(-13)));
    expect(times).toEqual(times.toSorted((a, b) => a - b));
  });
});
