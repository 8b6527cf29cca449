import type { Turn } from '../../scripts/bench/peers/turns.mjs';

const circumstances = {
  date: '2026-01-02',
  rounds: 3,
  machine: 'a machine',
  load: '0.10',
  versions: ['Spark 1', 'Java 2'],
  memory: '512m',
  master: 'local[2]',
};

/** Returns what was measured when the plain side took these seconds and the platform's warm side a quarter of them. */
async function measured(plain: number[]) {
  const { takeTurns } = await import('../../scripts/bench/peers/turns.mjs');
  const order: string[] = [];
  const turn = (side: Turn['side'], part: number, values: number[]) => async (): Promise<Turn[]> => {
    order.push(side);
    return [{ side, seconds: { jar: (values.shift() ?? NaN) * part } }];
  };
  const sides = [turn('plain', 1, [...plain]), turn('warm', 0.25, [...plain])];
  const seconds = await takeTurns({ name: 'test', rounds: plain.length - 1, sides, print: () => {} });
  return { order, seconds };
}

describe('the page about speed', () => {
  it('has medians of turns in which every side follows the other, without the first round', async () => {
    const { order, seconds } = await measured([99, 8, 4, 6]);
    expect(order.join(' ')).toBe('plain warm plain warm plain warm plain warm');
    expect(seconds.get('jar')?.get('plain')).toEqual([8, 4, 6]);
    const { speedPage } = await import('../../scripts/bench/peers/speed-table.mjs');
    const [head, rule, ...rows] = speedPage(seconds, circumstances).match(/^\|.*$/gm) ?? [];
    expect(head).toMatch(/^\| from start to end +\| plain Spark +\| platform, warm +\|$/);
    expect(rows).toEqual(['| job in a jar      | 6.00 s (4.00 to 8.00) | 1.50 s (1.00 to 2.00), **0.25** |']);
    expect([rule?.length, rows[0]?.length]).toEqual([head?.length, head?.length]);
  });

  it('says where, when and with which versions it was measured', async () => {
    const { speedPage } = await import('../../scripts/bench/peers/speed-table.mjs');
    const page = speedPage((await measured([1, 1])).seconds, circumstances);
    expect(page).toContain('a machine, on 2026-01-02');
    expect(page).toContain('median of 3 rounds');
    expect(page).toContain('Spark 1, Java 2');
  });
});
