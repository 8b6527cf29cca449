import { isJsonText } from './json-syntax';

const LEVELS = 100;
const isJson = (text: string) => isJsonText(Buffer.from(text), LEVELS);

/** Node's parser is the reference, because its grammar is that of RFC 8259. */
function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const SOUND = [
  ...['{}', '[]', ' [ ] ', '{"a":{}}', '[[],{}]', '[1,2]', '{"a":1,"b":[null]}', '\t\r\n1 '],
  ...['0', '-0', '-1.5e+10', '1E5', '0.0', '123456789', 'true', 'false', 'null'],
  ...['""', '"\\u00e9\\n\\/"', '"é😀"', '"\\ud800"', '{"":0}', '{"a":1,"a":2}'],
];
const UNSOUND = [
  ...['', ' ', '{', '[', ']', '}', '[1', '{"a"', '{"a":', '{"a":1', '"', '"\\', '"\\u12', '"\\x"', '"\u0001"', '"\n"'],
  ...['01', '1.', '.5', '-', '+1', '1e', '1e+', '0x1', 'tru', 'nulll', 'NaN', 'True', "'a'", '\ufeff1'],
  ...['[,]', '[1,]', '[1 2]', '{,}', '{"a" 1}', '{"a":1,}', '{a:1}', '{1:1}', '{"a":1]', '[1}', '1 2', '[]]', '{}{}'],
  ...['\u00a01', '[1]\u2028', '"\\U0041"', '"\\u00g0"'],
];

describe('isJsonText', () => {
  it.each(SOUND)('knows %j', (text) => {
    expect(parses(text)).toBe(true);
    expect(isJson(text)).toBe(true);
  });

  it.each(UNSOUND)('refuses %j', (text) => {
    expect(parses(text)).toBe(false);
    expect(isJson(text)).toBe(false);
  });

  it('agrees with the parser on texts with any piece changed, doubled or gone', () => {
    const pieces = [
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"',
      '\\',
      'u',
      '0',
      '-1',
      '.',
      'e',
      '+',
      ' ',
      '\n',
      'true',
      'null',
    ];
    let seed = 7;
    const below = (limit: number) => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
      return (seed >>> 8) % limit;
    };
    const counts = { sound: 0, unsound: 0 };
    for (let round = 0; round < 30_000; round += 1) {
      let text = SOUND[below(SOUND.length)] ?? '';
      for (let change = below(4); change > 0; change -= 1) {
        const at = below(text.length + 1);
        text = `${text.slice(0, at)}${below(3) > 0 ? pieces[below(pieces.length)] : ''}${text.slice(at + below(2))}`;
      }
      const isSound = parses(text);
      counts[isSound ? 'sound' : 'unsound'] += 1;
      if (isJson(text) !== isSound) throw new Error(`isJsonText(${JSON.stringify(text)}) is not ${isSound}`);
    }
    expect(Math.min(counts.sound, counts.unsound)).toBeGreaterThan(3_000);
  });

  it('bounds the levels', () => {
    const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
    expect(isJson(nested(LEVELS))).toBe(true);
    expect(isJson(nested(LEVELS + 1))).toBe(false);
    expect(isJson(`${'{"a":'.repeat(LEVELS + 1)}1${'}'.repeat(LEVELS + 1)}`)).toBe(false);
    expect(isJson(`[${nested(LEVELS - 1)},${nested(LEVELS - 1)}]`)).toBe(true);
  });
});
