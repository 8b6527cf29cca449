import { csvLine } from './csv';

describe('csvLine', () => {
  it('separates cells by commas and ends with CR and LF', () => {
    expect(csvLine(['a', 1, '', -2.5])).toBe('a,1,,-2.5\r\n');
  });

  it.each([
    ['a,b', '"a,b"'],
    ['say "hi"', '"say ""hi"""'],
    ['two\nlines', '"two\nlines"'],
    ['two\rlines', '"two\rlines"'],
    [' blank ', ' blank '],
  ])('quotes %j if it has to', (text, cell) => {
    expect(csvLine([text])).toBe(`${cell}\r\n`);
  });

  it.each([
    ['=1+1', `'=1+1`],
    ['+1', `'+1`],
    ['-1', `'-1`],
    ['@SUM(A1)', `'@SUM(A1)`],
    ['\t=1', `'\t=1`],
    ['\r=1', `"'\r=1"`],
    ['=HYPERLINK("x","y")', `"'=HYPERLINK(""x"",""y"")"`],
  ])('prevents that a spreadsheet reads %j as a formula', (text, cell) => {
    expect(csvLine([text])).toBe(`${cell}\r\n`);
  });
});
