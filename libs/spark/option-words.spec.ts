import { optionWords } from './option-words';

describe('optionWords', () => {
  it.each([
    ['', []],
    ['  \t\n', []],
    ['-Da=1  -Db=2\n-Dc=3 ', ['-Da=1', '-Db=2', '-Dc=3']],
    [`-Da="x y" '-Db=z "w"' -Dc='it''s'`, ['-Da=x y', '-Db=z "w"', '-Dc=its']],
    [
      String.raw`-Da=x\ y -Db=\$HOME -Dc="\"q\" \\ 'r'" -Dd='\n'`,
      ['-Da=x y', '-Db=$HOME', `-Dc="q" \\ 'r'`, '-Dd=\\n'],
    ],
    [`"" '' -Da=""`, ['', '', '-Da=']],
    ['-Da=$(id) `id` *', ['-Da=$(id)', '`id`', '*']],
  ])('divides %j', (text, words) => {
    expect(optionWords(text)).toEqual(words);
  });

  it.each([`-Da='x`, `-Da="x`, '-Da=x\\', `-Da="x\\"`])('returns null for %j', (text) => {
    expect(optionWords(text)).toBeNull();
  });

  it('takes time that grows with the length alone', () => {
    const started = performance.now();
    expect(optionWords(`"${'\\a'.repeat(500_000)}`)).toBeNull();
    expect(optionWords('a'.repeat(1_000_000))).toHaveLength(1);
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});
