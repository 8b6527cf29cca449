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
  ])('%j', (line, expected) => {
    expect(splitArguments(line)).toEqual(expected);
  });

  it('refuses an unclosed quote', () => {
    expect(() => splitArguments(`a "b`)).toThrow('unclosed');
  });
});
