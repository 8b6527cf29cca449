import { DomainError } from '../../../platform/kernel/errors/domain-error';
import { labelsFilter } from './labels-filter';

describe('labelsFilter', () => {
  it('takes an object of strings', () => {
    expect(labelsFilter('{"team":"a","__proto__":"b"}')).toBe('{"team":"a","__proto__":"b"}');
    expect(labelsFilter('{}')).toBe('{}');
  });

  it.each([
    ['text', 'team=a'],
    ['a list', '["a"]'],
    ['a string', '"a"'],
    ['null', 'null'],
    ['a number as a value', '{"team":1}'],
    ['an object as a value', '{"team":{}}'],
    ['NUL', '{"team":"\\u0000"}'],
    ['half of a pair in a key', '{"\\ud800":"a"}'],
    ['deep JSON', `${'['.repeat(2_000)}${']'.repeat(2_000)}`],
    ['deep JSON in a value', `{"a":${'{"a":'.repeat(600)}1${'}'.repeat(601)}`],
    ['too many pairs', JSON.stringify(Object.fromEntries(Array.from({ length: 51 }, (_, i) => [i, 'a'])))],
  ])('refuses %s', (_what, text) => {
    expect(() => labelsFilter(text)).toThrow(DomainError);
  });
});
