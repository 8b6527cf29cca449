import { exactJson } from './exact-json';
import { parseUntrusted, SHORT_JSON } from './parse-json';
import { JSON_BOUNDS, parseStrictJson } from './strict-json';

const rewritten = (text: string) => exactJson(parseUntrusted(text, SHORT_JSON, 'exact'));

describe('JSON that is parsed exactly', () => {
  it.each([
    '{"big":9007199254740993,"f":1.0,"list":[-0,-0.0,1e-05,1E+2,0.10,12345678901234567890.5]}',
    '[[1.0],{"a":[1.0,1.0]},1.00]',
    '1.0',
    '[0,-1,12,0.5,123456789012345,9007199254740991,true,null,"1.0",{"1.0":"9007199254740993"}]',
    String.raw`["\\udbff1.0","a,\"\\udbff1","\\",1.0,"\"",2.0,"x:\"1.0\"",{"\\\"1.0":3.0}]`,
  ])('is written as it was: %s', (text) => expect(rewritten(text)).toBe(text));

  it('has plain numbers wherever they would be written as they are', () => {
    expect(parseUntrusted('[1,-2.5,1.0]', SHORT_JSON, 'exact')).toEqual([1, -2.5, '\udbff1.0']);
    expect(parseUntrusted('[1.0,9007199254740993]', SHORT_JSON)).toEqual([1, 9007199254740992]);
  });

  it.each(['[01]', '[1.]', '[-]', '[1.0.0]', '[+1]', '[1e]', '[9007199254740993,]', '[00000000000000000000.1]'])(
    'is still JSON: %s is not',
    (text) => {
      expect(() => parseUntrusted(text, SHORT_JSON, 'exact')).toThrow();
      expect(parseStrictJson(Buffer.from(text), JSON_BOUNDS, 'exact')).toEqual({ fault: expect.any(String) });
    },
  );

  it('is JSON when it is written, whatever marks a stranger made', () => {
    const given = [
      '\udbff',
      '\udbff1',
      '\udbff-',
      '\udbff1.',
      '\udbff01',
      ',"\udbff1',
      ',"\udbff1",',
      '\udbff1"',
      '"\udbff1',
    ];
    const written = exactJson({ given, '\udbff1': { '\udbff2.0': given } });
    const expected = given.map((text) => (text === '\udbff1' ? 1 : text));
    expect(JSON.parse(written)).toEqual({ given: expected, '\udbff1': { '\udbff2.0': expected } });
  });

  it('is as strict where that is wanted, but for its marks', () => {
    const strict = (text: string) => parseStrictJson(Buffer.from(text), JSON_BOUNDS, 'exact');
    expect(strict('{"a":[1.0,2]}')).toEqual({ value: { a: ['\udbff1.0', 2] } });
    expect(strict(String.raw`["\udbff"]`)).toEqual({ unusable: { why: 'text', of: 'The request' } });
    expect(strict(String.raw`["\udbff1\ud800"]`)).toEqual({ unusable: { why: 'text', of: 'The request' } });
    expect(parseStrictJson(Buffer.from(String.raw`["\udbff1"]`), JSON_BOUNDS)).toEqual({
      unusable: { why: 'text', of: 'The request' },
    });
  });
});
