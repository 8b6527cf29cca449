import { exactJson, isMarked } from './exact-json';
import { readOpaque } from './opaque-json';
import { SHORT_JSON } from './parse-json';
import { JSON_BOUNDS, parseStrictJson } from './strict-json';

const read = (text: string, parsedLevels: number) => readOpaque(Buffer.from(text), { ...SHORT_JSON, parsedLevels });

describe('JSON that is parsed exactly', () => {
  it.each([
    '{"big":9007199254740993,"f":1.0,"list":[-0,-0.0,1e-05,1E+2,0.10,12345678901234567890.5]}',
    '[[1.0],{"a":[1.0,1.0]},1.00]',
    '1.0',
    '[0,-1,12,0.5,123456789012345,9007199254740991,true,null,"1.0",{"1.0":"9007199254740993"}]',
    String.raw`["\\udbff1.0","a,\"\\udbff1","\\",1.0,"\"",2.0,"x:\"1.0\"",{"\\\"1.0":3.0}]`,
    String.raw`{"a":{"\"]}":["]}","\\",{"é":[[1.0]]}],"b":"\\udbff["},"c":[[],{}]}`,
  ])('is written as it was, however many levels are parsed: %s', (text) => {
    for (const levels of [0, 1, 2, 3]) expect(exactJson(read(text, levels))).toBe(text);
  });

  it('has plain numbers wherever they would be written as they are', () => {
    expect(read('[1,-2.5,1.0]', 1)).toEqual([1, -2.5, '\udbff1.0']);
  });

  it('has a string for anything nested deeper', () => {
    expect(read('{"a":[1,{"b":"]"}],"c":"[1]"}', 1)).toEqual({ a: '\udbff[1,{"b":"]"}]', c: '[1]' });
    expect(['\udbff[1]', '\udbff{}', '\udbff-1', '\udbff1.0'].map(isMarked)).toEqual([true, true, true, true]);
    expect(['[1]', '\u{10fc00}', '\udbffx', '\udbff', ''].map(isMarked)).toEqual([false, false, false, false, false]);
  });

  it('contains no mark that a stranger forged', () => {
    const forged = String.raw`["\udbff]}","\uDbFf[","\udbff\u005b","\udbff1.0",{"\udbff[":1},"a\udbff["]`;
    const texts = ['\ufffd]}', '\ufffd[', '\ufffd[', '\ufffd1.0', { '\ufffd[': 1 }, 'a\udbff['];
    expect(read(forged, 2)).toEqual(texts);
    expect(read(String.raw`["\udbff\udc00"]`, 1)).toEqual(['\u{10fc00}']);
    expect(JSON.parse(exactJson(read(forged, 1)))).toEqual(
      JSON.parse(exactJson([...texts.slice(0, 4), { '\udbff[': 1 }, 'a\udbff['])),
    );
  });

  it('is written in time that grows with its length, however many marks are within a text', () => {
    const text = `["x${String.raw`\"\udbff`.repeat(1_000)}",1.0]`;
    const value = read(text, 1);
    const looks = jest.spyOn(String.prototype, 'indexOf');
    const written = exactJson(value);
    const looked = looks.mock.calls.length;
    looks.mockRestore();
    expect(written).toBe(text);
    expect(looked).toBeLessThan(3_000);
  });

  it.each(['[[[1]]', '[[1],[2]]]', '[1,[2}]', '[[01]]', '["a]', '[[1e]]', `${'['.repeat(102)}${']'.repeat(102)}`])(
    'is nothing if it is no JSON, or nested too deep: %s',
    (text) => expect(read(text, 1)).toBeUndefined(),
  );

  it('counts no values that are nested deeper', () => {
    const bounds = { bytes: 1_000, values: 5, levels: 9, parsedLevels: 1 };
    const many = `[[${'1,'.repeat(99)}1],2,3,4]`;
    expect(readOpaque(Buffer.from(many), bounds)).toHaveLength(4);
    expect(readOpaque(Buffer.from(many), { ...bounds, values: 4 })).toBeUndefined();
    expect(readOpaque(Buffer.from(many), { ...bounds, bytes: 100 })).toBeUndefined();
  });

  it.each(['[01]', '[1.]', '[-]', '[1.0.0]', '[+1]', '[1e]', '[9007199254740993,]', '[00000000000000000000.1]'])(
    'is still JSON: %s is not',
    (text) => {
      expect(read(text, 1)).toBeUndefined();
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
    expect(strict(String.raw`["\udbff1"]`)).toEqual({ unusable: { why: 'text', of: 'The request' } });
    expect(strict(String.raw`["\udbff\udc00",{"\\udbff1":"\\udbff1"}]`)).toEqual({
      value: ['\u{10fc00}', { '\\udbff1': '\\udbff1' }],
    });
    expect(strict(String.raw`["\udbff1\ud800"]`)).toEqual({ unusable: { why: 'text', of: 'The request' } });
    expect(parseStrictJson(Buffer.from(String.raw`["\udbff1"]`), JSON_BOUNDS)).toEqual({
      unusable: { why: 'text', of: 'The request' },
    });
  });
});
