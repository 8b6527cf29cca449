import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { getMetadataArgsStorage } from 'typeorm';
import { ENTITIES } from './entities';
import { MIGRATIONS } from './migrations';

const SOURCES = join(__dirname, '..');

function exportsOf(folder: string, suffix: string): unknown[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(suffix) && !name.endsWith('.d.ts'))
    .flatMap((name) => {
      // eslint-disable-next-line @typescript-eslint/no-require-imports -- the names are found here
      return Object.values(require(join(folder, name)) as Record<string, unknown>).flat();
    });
}

describe('What TypeORM is told of', () => {
  it('has the entities of all files that are named so', () => {
    const found = new Set(exportsOf(SOURCES, '.entity.ts'));
    const declared = getMetadataArgsStorage().tables.map(({ target }) => target);

    expect(declared.filter((target) => !found.has(target))).toEqual([]);
    expect(new Set<unknown>(ENTITIES)).toEqual(new Set<unknown>(declared));
  });

  it('has the migrations of the folder, oldest first', () => {
    const found = exportsOf(join(SOURCES, 'database', 'migrations'), '.ts');

    expect(new Set<unknown>(MIGRATIONS)).toEqual(new Set(found));
    const times = MIGRATIONS.map(({ name }) => Number(name.slice(-13)));
    expect(times).toEqual(times.toSorted((a, b) => a - b));
  });
});
