import { typeName, typeSql, typeText } from './data-type';
import { parseTypeText } from './type-text';

describe('parseTypeText', () => {
  it.each([
    ['int', 'int', 'INT'],
    [' DECIMAL( 10 , 2 ) ', 'decimal(10,2)', 'DECIMAL'],
    ['decimal', 'decimal(10,0)', 'DECIMAL'],
    ['double precision', 'double', 'DOUBLE'],
    ['VARCHAR(5)', 'varchar(5)', 'VARCHAR'],
    ['interval day to second', 'interval day to second', 'INTERVAL'],
    ['timestamp_ltz', 'timestamp', 'TIMESTAMP'],
    ['array<map<string,array<struct<x:int>>>>', 'array<map<string,array<struct<x:int>>>>', 'ARRAY'],
    [
      'struct<a:int,`b c`:array<map<string,decimal(10,2)>>>',
      'struct<a:int,`b c`:array<map<string,decimal(10,2)>>>',
      'STRUCT',
    ],
    ['struct<b c:int,größe:string>', 'struct<`b c`:int,`größe`:string>', 'STRUCT'],
    ['struct<`a``b`:int>', 'struct<`a``b`:int>', 'STRUCT'],
    ['struct<a: int, b string>', 'struct<a:int,b:string>', 'STRUCT'],
    ['struct<>', 'struct<>', 'STRUCT'],
    ['struct<a:uniontype<int,string>>', 'struct<a:uniontype<int,string>>', 'STRUCT'],
    ['geometry', 'geometry', 'GEOMETRY'],
  ])('reads %s', (text, shown, name) => {
    const type = parseTypeText(text);
    expect([typeText(type), typeName(type)]).toEqual([shown, name]);
  });

  it('reads NOT NULL and comments of the fields of a struct', () => {
    const type = parseTypeText(`struct<a:int NOT NULL COMMENT 'it\\'s, <x>:',b:string comment "\\u00fc">`);
    expect(typeSql(type)).toBe("struct<`a`: int NOT NULL COMMENT 'it\\'s, <x>:', `b`: string COMMENT 'ü'>");
  });

  it.each([
    '',
    'struct<a:int',
    'array<>',
    'map<int>',
    'int>',
    'array<int>x',
    'struct<`a:int>',
    'foo<int>',
    '<',
    'struct<:int>',
  ])('refuses %j', (text) =>
    expect(() => parseTypeText(text)).toThrow(expect.objectContaining({ fault: 'malformed' })),
  );

  it.each([
    ['deep', 'array<'.repeat(100_000)],
    ['long', 'x'.repeat(2 ** 22 + 1)],
    ['wide', `struct<${'a:int,'.repeat(200_000)}a:int>`],
  ])('refuses a type that is too %s', (_case, text) =>
    expect(() => parseTypeText(text)).toThrow(expect.objectContaining({ fault: 'too-large' })),
  );

  it.each([
    ['blanks', `struct<${' '.repeat(2e6)}`],
    ['words', `struct<${'a '.repeat(1e6)}`],
    ['an open quote', `struct<a:int comment '${'\\'.repeat(2e6)}`],
    ['backticks', `struct<${'`'.repeat(2e6 + 1)}`],
    ['an open bracket', `decimal(${' '.repeat(2e6)}`],
  ])('takes linear time for %s', (_case, text) => {
    const start = performance.now();
    expect(() => parseTypeText(text)).toThrow(expect.objectContaining({ fault: 'malformed' }));
    expect(performance.now() - start).toBeLessThan(15_000);
  });
});
