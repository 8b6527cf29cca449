import { randomBytes } from 'node:crypto';
import { SecretMask, type MaskedForm } from './secret-mask';

function masked(text: string, values: string[], form: MaskedForm = 'text', isOver = true): string {
  const bytes = Buffer.from(text);
  new SecretMask(values).mask(bytes, form, isOver);
  return bytes.toString('utf8');
}

const stars = (length: number): string => '*'.repeat(length);

describe('SecretMask', () => {
  it.each([
    ['as it is', 'a hush! b', ['hush!'], 'a ***** b'],
    ['twice, and one behind the other', 'hush!hush!-hush!', ['hush!'], '**********-*****'],
    [
      'among others that it begins or ends with',
      'hu-hush-hush!-shout',
      ['hush!', 'hush', 'shout'],
      'hu-****-*****-*****',
    ],
    ['in one that is not there whole', 'abcdef-', ['abcdefgh', 'cdef'], 'ab****-'],
    ['that overlaps another', 'abcdefgh', ['abcdef', 'defgh'], '********'],
    ['behind a beginning of itself', 'aaabaaaab', ['aaaab'], 'aaab*****'],
    ['of more bytes than characters', 'ä pässword', ['pässword'], 'ä *********'],
    ['of four characters, and none of three', 'four six', ['four', 'six'], '**** six'],
    ['but no word of JSON', 'true', ['true'], 'true'],
    ['without blanks around it', 'key=hush!', ['  hush!\n'], 'key=*****'],
  ])('hides a value %s', (_what, text, values, expected) => {
    expect(masked(text, values)).toBe(expected);
  });

  it('hides values with the prefix of others at every position', () => {
    const values = ['abab', 'ababab-x', 'bab-y', 'xabab'];
    for (let at = 0; at < 40; at += 1) {
      const text = `${'.'.repeat(at)}xababab-x.bab-y`;
      expect(masked(text, values)).toBe(`${'.'.repeat(at)}*********.*****`);
    }
  });

  it('hides values longer than a piece, and the rest of a value that was cut', () => {
    const value = randomBytes(60).toString('base64');
    expect(masked(`<${value}>`, [value])).toBe(`<${stars(80)}>`);
    expect(masked(`<${value.slice(0, 40)}>`, [value])).toBe(`<${stars(32)}${value.slice(32, 40)}>`);
    expect(masked(`<${value.slice(0, 40)}`, [value])).toBe(`<${stars(40)}`);
    expect(masked(`<${value.slice(0, 33)}`, [value])).toBe(`<${stars(33)}`);
  });

  it('hides several lines together, line by line and as JSON, and keeps the line breaks', () => {
    const lines = ['-----BEGIN KEY-----', randomBytes(48).toString('base64'), 'end'];
    const value = `${lines.join('\n')}\n`;
    expect(masked(`[${value}]`, [value])).toBe(`[${lines.map((line) => stars(line.length)).join('\n')}\n]`);
    const apart = lines.map((line) => `INFO ${line}\r\n`).join('');
    expect(masked(apart, [value])).toBe(`INFO ${stars(19)}\r\nINFO ${stars(64)}\r\nINFO end\r\n`);
    const json = JSON.stringify({ key: value });
    expect(masked(json, [value])).toBe(`{"key":"${stars(JSON.stringify(value).length - 2)}"}`);
  });

  it('leaves valid JSON', () => {
    const event = { Event: 'x', Time: 1763912345678, Text: 'hush! "quoted"', Id: '12345678' };
    const text = masked(JSON.stringify(event), ['12345678', 'hush! "quoted"'], 'json');
    expect(JSON.parse(text)).toEqual({ Event: 'x', Time: 1763999999999, Text: stars(16), Id: '99999999' });
  });

  it('returns the length of the end that may be the start of a value', () => {
    const open = (text: string) => new SecretMask(['hush!', 'shout', '!-no']).mask(Buffer.from(text), 'text', false);
    expect(['x', 'hus', 'hush', 'hush!', 'hus-', 'hus', 'hush!sho'].map(open)).toEqual([0, 3, 4, 1, 0, 3, 3]);
    expect(masked('.hush', ['hush!'], 'text', false)).toBe('.hush');
    expect(masked('.hush', ['hush!'])).toBe('.****');
  });

  it('takes one step per byte, however long and similar the values are', () => {
    const values = ['a'.repeat(65_535) + 'b', ...Array.from({ length: 99 }, (_, at) => `${'a'.repeat(at + 3)}${at}!`)];
    const mask = new SecretMask(values);
    const text = Buffer.alloc(2 * 1024 * 1024, 'a');
    const begin = performance.now();
    mask.mask(text, 'text', false);
    // Comparing values at each position would take many minutes.
    expect(performance.now() - begin).toBeLessThan(60_000);
    expect(text.equals(Buffer.alloc(text.length, '*'))).toBe(true);
  });
});
