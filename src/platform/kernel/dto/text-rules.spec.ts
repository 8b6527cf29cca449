import { maxLength, minLength, validateSync } from 'class-validator';
import { atLeastCharacters, atMostCharacters, matching, uniqueItems } from './text-rules';

class Body {
  @atLeastCharacters(2) @atMostCharacters(4) text: unknown = 'fine';
  @atMostCharacters(2, { each: true }) texts: unknown = [];
  @matching(/^[a-z]*$/, { maxLength: 4, message: '$property must consist of letters' }) word: unknown = 'word';
  @matching(/^\d$/, { message: '$property must be a digit', showsValue: true }) digit: unknown = '1';
  @uniqueItems() items: unknown = [];
}

const problems = (fields: Partial<Body>): string[] =>
  validateSync(Object.assign(new Body(), fields)).flatMap(({ constraints }) => Object.values(constraints ?? {}));

const LONG = 'text must have at most 4 characters';
const SHORT = 'text must have at least 2 characters';

describe('rules of texts', () => {
  it.each<[unknown, string[]]>([
    ['ab', []],
    ['a', [SHORT]],
    ['abcde', [LONG]],
    ['abc'.repeat(5), [LONG]],
    ['😀😀😀😀', []],
    ['😀', [SHORT]],
    ['😀😀😀😀😀', [LONG]],
    ['☺️☺️☺️☺️', []],
    ['❤️‍🔥', []],
    ['😀️😀️😀️😀️', []],
    ['a\ufe0f\ufe0fbcd', [LONG]],
    ['\ufe0fabc', []],
    ['\ud83d\ud83d', []],
    [5, [SHORT, LONG]],
  ])('count the characters of %p', (text, expected) => {
    expect(problems({ text }).sort()).toEqual(expected);
  });

  it('name a value that is no secret, without its end and placeholders', () => {
    expect(problems({ digit: 'ten' })).toEqual(['digit must be a digit, and not "ten"']);
    expect(problems({ digit: [Symbol('a record')] })).toEqual(['digit must be a digit']);
    expect(problems({ digit: '$value' })).toEqual(['digit must be a digit, and not "value"']);
    expect(problems({ digit: 'x'.repeat(100) })).toEqual([`digit must be a digit, and not "${'x'.repeat(64)}…"`]);
  });

  it('count as the rules of class-validator do, whatever the units and their order', () => {
    const units = ['a', '\ud83d', '\ude00', '\ufe0f'];
    let texts = [''];
    for (let length = 0; length < 6; length += 1) {
      for (const text of texts) {
        const found = problems({ text });
        expect([text, found.includes(LONG)]).toEqual([text, !maxLength(text, 4)]);
        expect([text, found.includes(SHORT)]).toEqual([text, !minLength(text, 2)]);
      }
      texts = texts.flatMap((text) => units.map((unit) => text + unit));
    }
  });

  it('check each item of a list', () => {
    expect(problems({ texts: ['ab', '😀😀'] })).toEqual([]);
    expect(problems({ texts: ['ab', 'abc'] })).toEqual(['each value in texts must have at most 2 characters']);
  });

  it('leave a text that is too long to the rule for its length', () => {
    expect(problems({ word: 'word' })).toEqual([]);
    expect(problems({ word: 'W' })).toEqual(['word must consist of letters']);
    expect(problems({ word: 5 })).toEqual(['word must consist of letters']);
    expect(problems({ word: 'W'.repeat(13) })).toEqual([]);
  });

  it('refuse an item that occurs twice', () => {
    expect(problems({ items: [1, '1', 2] })).toEqual([]);
    expect(problems({ items: [1, 2, 1] })).toEqual(['items must not have duplicates']);
    expect(problems({ items: 'aa' })).toEqual(['items must not have duplicates']);
  });
});
