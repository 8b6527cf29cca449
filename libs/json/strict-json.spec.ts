import { JSON_BOUNDS, parseStrictJson, structureOf } from './strict-json';

const bounds = { values: 5, levels: 2 };
function of(text: string): string | null {
  const structure = structureOf(Buffer.from(text), bounds);
  return 'broken' in structure ? structure.broken : null;
}

describe('structureOf', () => {
  it.each(['{}', '[1,2,3,4,5]', '{"a":{"b":{}}}', '{"a":1,"b":2,"c":3,"d":4,"e":5}', ' "text" ', '', 'null', ']]]'])(
    'lets %j pass',
    (text) => expect(of(text)).toBeNull(),
  );

  it.each([
    ['[1,2,3,4,5,6]', 'values'],
    ['[[],[],[]]', 'values'],
    ['{"a":{"b":{"c":{}}}}', 'levels'],
    ['[[[[', 'levels'],
    ['{"a,b":1,"b":2,"c":3,"d":4,"e":5,"f":6}', 'values'],
  ])('stops %j for its %s', (text, bound) => expect(of(text)).toBe(bound));

  it.each([
    ['structure in a text', '{"a":"[[[[,,,,,,,,"}', null],
    ['an escaped quote', '{"a":"\\",,,,,,,,,"}', null],
    ['a text that ends with a backslash', '{"a":"\\\\","b":[1,2,3,4]}', 'values'],
    ['a text of quotes', `{"a":"${'\\"'.repeat(50)}[[[["}`, null],
    ['two empty texts', '["",""]', null],
    ['a text without an end', '{"a":"[[[[[,,,,,,,', null],
    ['an escaped quote without an end', '{"a":"\\"', null],
    ['letters of more bytes', '{"a":"é😀,,,,,,,,"}', null],
  ])('sees %s', (_what, text, bound) => expect(of(text)).toBe(bound));
});

describe('parseStrictJson', () => {
  const parsed = (text: string | Buffer) => parseStrictJson(Buffer.from(text), JSON_BOUNDS);

  it('takes objects and lists, with or without a byte order mark', () => {
    expect(parsed('{"a":[1,"é"]}')).toEqual({ value: { a: [1, 'é'] } });
    expect(parsed('\ufeff[]')).toEqual({ value: [] });
  });

  it.each(['1', '"a"', 'null', '', '{', '{"a":}', '[1,]'])('says why %j is nothing to go on with', (text) => {
    expect(parsed(text)).toEqual({ fault: expect.any(String) });
  });

  it('parses nothing that breaks a bound', () => {
    expect(parsed(`[${'1,'.repeat(10_000)}1]`)).toEqual({ broken: 'values' });
    expect(parsed('['.repeat(1_000_000))).toEqual({ broken: 'levels' });
    expect(parsed(`[${'1,'.repeat(9_998)}1]`)).toEqual({ value: expect.any(Array) });
  });

  it.each([
    ['{"labels":{"__proto__":"1"}}', { why: 'key', of: '__proto__' }],
    ['{"labels":{"a":[{"\\u005f_proto__":1}]}}', { why: 'key', of: '__proto__' }],
    ['{"labels":{"team":"\\ud800"}}', { why: 'text', of: 'team' }],
    ['{"labels":{"team":["a","\\udc00b"]}}', { why: 'text', of: 'team' }],
    ['["\\ud800"]', { why: 'text', of: 'The request' }],
    ['{"labels":{"\\ud800":"a"}}', { why: 'text', of: 'A key' }],
  ])('refuses %s, which would not be kept as it is', (text, unusable) => {
    expect(parsed(text)).toEqual({ unusable });
  });

  it.each(['{"a":1,"a":2}', '{"a":1,"\\u0061":2}', '[{"b":{"a":":","c":1,"a":"x"}}]'])(
    'refuses %s, of which a key would be lost',
    (text) => {
      expect(parsed(text)).toEqual({ fault: 'an object has the same key twice' });
    },
  );

  it('replaces halves of surrogate pairs in values but not in keys, if asked to', () => {
    const mend = (text: string) => parseStrictJson(Buffer.from(text), { ...JSON_BOUNDS, mendsTexts: true });
    expect(mend('{"a":["x\\ud83d",{"b":"\\udc00y","c":"\\ud83d\\ude00"}]}')).toEqual({
      value: { a: ['x\ufffd', { b: '\ufffdy', c: '\u{1f600}' }] },
    });
    expect(mend('{"\\ud83d":"a"}')).toEqual({ unusable: { why: 'text', of: 'A key' } });
  });

  it('takes keys that would mean something of a class', () => {
    const text =
      '{"constructor":"Ferrari","a":{"prototype":1,"constructor":{"prototype":{"polluted":1}},"toString":2}}';
    expect(JSON.stringify(parsed(text))).toBe(`{"value":${text}}`);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  it('takes the same key in several objects, and colons in keys and texts', () => {
    const text = '{"a":{"a":[{"a":"a:a"},{"a":":"}]},"b:a":1}';
    expect(parsed(text)).toEqual({ value: JSON.parse(text) as object });
  });

  it('takes characters beyond 16 bits, and lists in lists as deep as anything needs', () => {
    expect(parsed('{"\\ud83d\\ude00":"\\ud83d\\ude00"}')).toEqual({ value: { '😀': '😀' } });
    expect(parsed(`{"a":${'['.repeat(90)}${']'.repeat(90)}}`)).toEqual({ value: { a: expect.any(Array) } });
  });
});
