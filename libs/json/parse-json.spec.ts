import { JsonError, parseTrusted, parseUntrusted, readUntrusted, SHORT_JSON } from './parse-json';

const BOUNDS = { bytes: 1_000, values: 10, levels: 3 };

function faultOf(json: string | Uint8Array): string {
  try {
    parseUntrusted(json, BOUNDS);
  } catch (error) {
    if (error instanceof JsonError) return error.fault;
    throw error;
  }
  return 'none';
}

describe('parseUntrusted', () => {
  it.each([
    ['{"a":[1,"é"]}', { a: [1, 'é'] }],
    ['"[[[[[[[[[["', '[[[[[[[[[['],
    [' null ', null],
  ])('parses %j', (text, value) => {
    expect(parseUntrusted(text, BOUNDS)).toEqual(value);
    expect(parseUntrusted(Buffer.from(text), BOUNDS)).toEqual(value);
    expect(parseUntrusted(new Uint8Array(Buffer.from(`xx${text}`)).subarray(2), BOUNDS)).toEqual(value);
  });

  it.each([
    ['bytes', `"${'a'.repeat(999)}"`],
    ['bytes', `"${'é'.repeat(500)}"`],
    ['values', '[1,2,3,4,5,6,7,8,9,10,11]'],
    ['values', '[[],[],[],[],[],[]]'],
    ['levels', '[[[[[]]]]]'],
    ['syntax', '{"a":}'],
    ['syntax', ''],
  ])('refuses for its %s %j', (fault, text) => {
    expect(faultOf(text)).toBe(fault);
    expect(faultOf(Buffer.from(text))).toBe(fault);
    expect(readUntrusted(text, BOUNDS)).toBeUndefined();
  });

  it('says in a sentence what is too much', () => {
    expect(() => parseUntrusted('[[[[[]]]]]', BOUNDS)).toThrow('The JSON has more than 3 levels.');
    expect(() => parseUntrusted('1'.repeat(70_000), SHORT_JSON)).toThrow('The JSON has more than 65536 bytes.');
  });
});

describe('parseTrusted', () => {
  it('parses whatever it is given, and throws what others do', () => {
    expect(parseTrusted<number[]>('[1]')).toEqual([1]);
    expect(() => parseTrusted('{')).toThrow(JsonError);
  });
});
