import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { seededRandom } from '../harness/seeded-random.cjs';

const root = join(__dirname, '..', '..');

const UP = new Set('│┤┘┴┼');
const DOWN = new Set('│┐┬┤┼');
const JOINT = new Set('┐┬┤┼┘┴');

/** Follows the lines of a picture; returns "FROM TO" for each transition. */
function transitionsIn(picture: readonly string[]): string[] {
  const at = (row: number, column: number) => picture[row]?.[column] ?? ' ';
  const namesOf = (row: number) => (picture[row] ?? '').split(/ ◄|\s{2,}|$/)[0]?.split(', ') ?? [];
  /** Returns the rows of the states that the vertical line through a joint reaches. */
  function targets(row: number, column: number, step: 1 | -1): number[] {
    const [out, back] = step < 0 ? [UP, DOWN] : [DOWN, UP];
    if (!out.has(at(row, column)) || !back.has(at(row + step, column))) return [];
    const next = row + step;
    const isTarget = JOINT.has(at(next, column)) && at(next, 2) !== '└';
    return [...(isTarget ? [next] : []), ...targets(next, column, step)];
  }
  return picture.flatMap((line, row) => {
    if (line[2] !== '└') return [];
    const joints = [...line].flatMap((character, column) => (column > 2 && JOINT.has(character) ? [column] : []));
    const reached = joints.flatMap((column) => [...targets(row, column, -1), ...targets(row, column, 1)]);
    return namesOf(row - 1).flatMap((from) => reached.flatMap((to) => namesOf(to).map((name) => `${from} ${name}`)));
  });
}

describe('the pictures of state machines', () => {
  it('are those of the tables, above each and on the page', async () => {
    const { filesWithTables, statesPage, withPictures } = await import('../../scripts/states.mjs');
    const files = filesWithTables();
    expect(files.length).toBeGreaterThanOrEqual(3);
    for (const { file, text } of files) expect({ file, text }).toEqual({ file, text: withPictures(text) });
    expect(readFileSync(join(root, 'docs/architecture/states.md'), 'utf8')).toBe(statesPage());
  });

  it('are required of every table', async () => {
    const { withPictures } = await import('../../scripts/states.mjs');
    const table = "export const JOB_TRANSITIONS: TransitionTable<Job> = { A: ['B'], B: [] };\n";
    expect(() => withPictures(`/** Jobs. */\n${table}`)).toThrow(
      'No block of text in the comment above JOB_TRANSITIONS.',
    );
    expect(withPictures(`/**\n * \`\`\`text\n * old\n * \`\`\`\n */\n${table}`)).toContain(
      ' * A\n *   └──┐\n * B ◄──┘\n',
    );
  });

  it('have a line for each transition and for nothing else', async () => {
    const { pictureOf } = await import('../../scripts/states/picture.mjs');
    for (let seed = 1; seed <= 500; seed += 1) {
      const random = seededRandom(seed);
      const names = Array.from(
        { length: random.between(2, 9) },
        (_, index) => `STATE${'S'.repeat(random.below(4))}_${index}`,
      );
      const table = Object.fromEntries(names.map((name) => [name, names.filter(() => random.below(3) === 0)]));
      const expected = names.flatMap((from) => (table[from] ?? []).map((to) => `${from} ${to}`));
      expect({ seed, found: transitionsIn(pictureOf(table)).toSorted() }).toEqual({ seed, found: expected.toSorted() });
    }
  });
});
