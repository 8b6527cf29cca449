import { plainText, spansOf } from './ansi';

describe('the pieces of a line', () => {
  it.each([
    ['plain', [['plain', '']]],
    [
      '\u001b[31mred\u001b[0m rest',
      [
        ['red', 'red'],
        [' rest', ''],
      ],
    ],
    [
      '\u001b[1;32mboth\u001b[39mbold',
      [
        ['both', 'bold green'],
        ['bold', 'bold'],
      ],
    ],
    [
      '\u001b[91mbright\u001b[mrest',
      [
        ['bright', 'bright-red'],
        ['rest', ''],
      ],
    ],
    ['\u001b[38;5;196mpalette', [['palette', '']]],
    ['\u001b[2Kcleared\u001b[10A', [['cleared', '']]],
    ['\u001b]0;title\u0007shown', [['shown', '']]],
    ['<img src=x onerror=alert(1)>', [['<img src=x onerror=alert(1)>', '']]],
  ])('of %j', (line, pieces) => {
    expect(spansOf(line).map(({ text, styles }) => [text, styles.join(' ')])).toEqual(pieces);
    expect(plainText(line)).toBe(pieces.map(([text]) => text).join(''));
  });
});
