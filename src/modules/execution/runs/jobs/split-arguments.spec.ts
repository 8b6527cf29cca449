import { splitArguments } from './split-arguments';

describe('splitArguments', () => {
  it.each([
    ['', []],
    ['a b  c', ['a', 'b', 'c']],
    [`a "b c" 'd e'`, ['a', 'b c', 'd e']],
    [`--x="1 2"'3'`, ['--x=1 23']],
    [`""  ''`, ['', '']],
    ['a\\ b \\" c', ['a b', '"', 'c']],
    [`'a\\b' $HOME`, ['a\\b', '$HOME']],
    ['\ttab\nline', ['tab', 'line']],
    [
      String.raw`--pattern "\d+\.csv" --path "C:\temp\new" --nl "a\nb"`,
      [`--pattern`, String.raw`\d+\.csv`, '--path', String.raw`C:\temp\new`, '--nl', String.raw`a\nb`],
    ],
    ['"\\$HOME \\`x\\` \\" \\\\ \\\' \\!"', ['$HOME `x` " \\ \\\' \\!']],
    [String.raw`"\\"" a" "\\\"b"`, ['\\ a', '\\"b']],
    ['--a 1 \\\n  --b 2\\\n3 \\\n', ['--a', '1', '--b', '23']],
    ['--a 1 \\\r\n  --b 2\r\n', ['--a', '1', '--b', '2']],
    ['"a\\\nb\\\r\nc\nd"', ['abc\nd']],
    [`'a\\\nb'`, ['a\\\nb']],
    ['1\u00a0000 東京\u3000駅', ['1\u00a0000', '東京\u3000駅']],
    ['a\\', ['a\\']],
  ])('%j', (line, expected) => {
    expect(splitArguments(line)).toEqual(expected);
  });

  it.each(['a "b', `a 'b`, String.raw`"a\"`])('refuses an unclosed quote: %s', (line) => {
    expect(() => splitArguments(line)).toThrow('unclosed');
  });
});
