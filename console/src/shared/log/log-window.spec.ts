import { LogWindow } from './log-window';

const bytes = (text: string) => new TextEncoder().encode(text);
const textsOf = (log: LogWindow) => log.lines.map(({ text }) => text);

describe('a window of a log', () => {
  it('leaves out the line whose beginning is missing', () => {
    const log = LogWindow.of(bytes('alf\nwhole\nlast'), 100, false);
    expect([log.start, log.end]).toEqual([104, 114]);
    expect(log.lines).toEqual([
      { offset: 104, text: 'whole' },
      { offset: 110, text: 'last' },
    ]);
  });

  it('continues its last line, also within a character', () => {
    const whole = bytes('one\ngrüße\r\nthree');
    for (let at = 0; at <= whole.length; at += 1) {
      const log = LogWindow.of(whole.subarray(0, at), 0, true).append(whole.subarray(at), Infinity);
      expect(textsOf(log)).toEqual(['one', 'grüße', 'three']);
      expect(log.end).toBe(whole.length);
    }
  });

  it('loses its first lines when too much is added behind it', () => {
    let log = LogWindow.emptyAt(0);
    for (let line = 0; line < 1000; line += 1) log = log.append(bytes(`line ${String(line).padStart(4, '0')}\n`), 100);
    expect(textsOf(log)).toHaveLength(10);
    expect([log.start, log.end, textsOf(log)[0]]).toEqual([9_900, 10_000, 'line 0990']);
  });

  it('loses its last lines when too much is added before it', () => {
    const log = LogWindow.of(bytes('c\nd\n'), 4, true).prepend(LogWindow.of(bytes('a\nb\n'), 0, true), 5);
    expect([textsOf(log), log.start, log.end]).toEqual([['a', 'b', 'c'], 0, 6]);
    expect(textsOf(log.append(bytes('d\n'), Infinity))).toEqual(['a', 'b', 'c', 'd']);
  });

  it('finds the line of a byte', () => {
    const log = LogWindow.of(bytes('one\ntwo\nthree'), 10, true);
    expect([9, 10, 13, 14, 22, 23].map((offset) => log.indexOf(offset))).toEqual([-1, 0, 0, 1, 2, -1]);
  });

  it('cuts a line that has no end', () => {
    const log = LogWindow.of(bytes('x'.repeat(100_000)), 0, true);
    expect(Math.max(...textsOf(log).map((text) => text.length))).toBe(8192);
    expect(textsOf(log).join('')).toHaveLength(100_000);
  });
});
