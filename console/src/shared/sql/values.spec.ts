import type { Column } from 'managed-spark/sql';
import { csvHead, csvOf, textOfValue, tsvOf } from './values';

const TEXT: Column = { name: 't', type: 'STRING' };
const NUMBER: Column = { name: 'n', type: 'DECIMAL' };

describe('values of results', () => {
  it('keep all their digits', () => {
    const values = [9_007_199_254_740_993n, '12345678901234567890.10', 0.1, true, Uint8Array.of(0, 255), null];
    expect(values.map(textOfValue)).toEqual([
      '9007199254740993',
      '12345678901234567890.10',
      '0.1',
      'true',
      '0x00ff',
      null,
    ]);
  });

  it('become lines that spreadsheets paste into cells', () => {
    expect(tsvOf([['a\tb\nc', null, 1]])).toBe('a b c\t\t1');
  });
});

describe('csvOf', () => {
  it('has NULL apart from an empty text, and quotes as RFC 4180 does', () => {
    expect(csvOf([TEXT, TEXT, TEXT], [[null, '', 'a,"b"\nc']])).toBe(',"","a,""b""\nc"\r\n');
  });

  it.each(['=1+1', '+1', '-1', '@sum(a1)', '\t=1', ' =cmd()', '\u00a0=1', '\uff1d1', '\rx', '\nx'])(
    'lets no spreadsheet calculate the text %j',
    (text) => {
      const field = csvOf([TEXT], [[text]]).replace(/^"/, '');
      expect(field.startsWith(`'${text}`)).toBe(true);
    },
  );

  it('leaves numbers as they are, and guards the names of columns', () => {
    expect(csvOf([NUMBER], [['-12.50']])).toBe('-12.50\r\n');
    expect(csvHead([{ name: '=evil()', type: 'INT' }])).toBe("'=evil()\r\n");
  });
});
