import { Snapshot } from './snapshot';

describe('Snapshot', () => {
  it('sees what had ended, and not what was running or began later', () => {
    const snapshot = Snapshot.parse('10:20:10,14');
    expect([9, 10, 11, 14, 19, 20].map((id) => snapshot?.sees(id))).toEqual([true, false, true, false, true, false]);
    expect(snapshot?.oldest).toBe(10);
    expect(Snapshot.parse('5:5:')?.sees(4)).toBe(true);
  });

  it.each([
    '',
    'x',
    '10:20',
    '20:10:',
    '0:1:',
    '10:20:9',
    '10:20:20',
    '10:20:14,12',
    '10:20:1;DROP TABLE runs',
    '10:20:11,',
    '99999999999999999:99999999999999999:',
    `1:20000:${Array.from({ length: 10_000 }, (_, n) => n + 1).join(',')}`,
  ])('refuses %.40j', (text) => {
    expect(Snapshot.parse(text)).toBeNull();
  });
});
