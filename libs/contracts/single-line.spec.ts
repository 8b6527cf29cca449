import { MAX_LINE_LENGTH, singleLine } from './single-line';

describe('a message from a machine', () => {
  it.each([
    ['The Spark master ended.', 'The Spark master ended.'],
    [' no Java\u001b[2J\u0000here\r\n\tat x\u2028y\u0085 ', 'no Java [2J here at x y'],
    ['paid \u202egpj.exe\u2066', 'paid gpj.exe'],
    ['größer \u{1f389}', 'größer \u{1f389}'],
    ['half \ud83d', 'half \ufffd'],
    ['\0\n', ''],
  ])('%j is one line, %j', (text, line) => {
    expect(singleLine(text)).toBe(line);
  });

  it('keeps its beginning and its end if it is too long', () => {
    const line = singleLine(`The script ended with 3. ${'on and on\n'.repeat(10_000)}the end`);
    expect(line.length).toBeLessThanOrEqual(MAX_LINE_LENGTH);
    expect(line).toMatch(/^The script ended with 3\. on and on .* … .*on and on the end$/);
  });

  it.each([12, 101, MAX_LINE_LENGTH])('has at most %i characters, and no half of a surrogate pair', (max) => {
    for (const text of ['x'.repeat(1_000_000), '\u{1f389}'.repeat(100_000), `${' '.repeat(1_000_000)}x`]) {
      const line = singleLine(text, max);
      expect(line.length).toBeLessThanOrEqual(max);
      expect(line.isWellFormed()).toBe(true);
    }
  });
});
