import { terminalText } from './terminal-text';

describe('a text on a terminal', () => {
  it.each([
    ['plain\nlines', 'plain\nlines'],
    ['one\r\ntwo\r\n', 'one\ntwo\n'],
    [' 10%|#   |\r 50%|##  |\r100%|####|\n', '100%|####|\n'],
    ['longer text\rab', 'abnger text'],
    ['working\r\u001b[Kdone', 'done'],
    ['\u001b[31mred\u001b[0m long\rx', 'xed long'],
    ['abc\b\bx', 'ax'],
    // Two bars below each other, as tqdm moves them.
    ['a: 0%\nb: 0%\u001b[A\ra: 50%\n\rb: 50%\u001b[A\ra: 100%\n', 'a: 100%\nb: 50%'],
  ])('%j looks like %j', (text, shown) => {
    expect(terminalText(text)).toBe(shown);
  });

  it('of a million carriage returns is read in a moment', () => {
    const begun = performance.now();
    expect(terminalText('x\r'.repeat(500_000))).toBe('x');
    expect(performance.now() - begun).toBeLessThan(2_000);
  });
});
