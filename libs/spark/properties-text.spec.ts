import { propertyKeys, propertyValue, withoutProperties } from './properties-text';

describe('propertyKeys', () => {
  it('reads keys before =, : or white space and skips comments', () => {
    expect(propertyKeys('# a=1\n! b\n\n c = 2\nd:3\r\ne f')).toEqual(['c', 'd', 'e']);
  });

  it('skips a byte order mark', () => {
    expect(propertyKeys('\uFEFFa=1')).toEqual(['a']);
    expect(withoutProperties('\uFEFFa=1\nb=2', (key) => key === 'b')).toBe('a=1');
  });

  it('does not mistake part of a value for a key', () => {
    expect(propertyKeys('a=1\\\nb=2\nc=3\\\\\nd=4\n# e\\\nf=5')).toEqual(['a', 'c', 'd', 'f']);
  });
});

describe('propertyValue', () => {
  it.each([
    ['a=1', '1'],
    [' a : 1 = 2', '1 = 2'],
    ['a 1', '1'],
    ['a', ''],
    ['a=1\nb=2\na=3', '3'],
    ['a = x,\\\n   y\\:z\\\n', 'x,y:z'],
    ['#a=1\nab=2', null],
  ])('of %j is %j', (text, value) => {
    expect(propertyValue(text, 'a')).toBe(value);
  });
});

describe('withoutProperties', () => {
  const without = (text: string) => withoutProperties(text, (key) => key === 'a');

  it('removes a property with the continuation lines of its value', () => {
    expect(without('# a\na=1\\\n  a=2\\\n\nb=3\n a 4\nc')).toBe('# a\nb=3\nc');
  });

  it('keeps everything else', () => {
    expect(without('# a=1\n\nb = x\\\n a = y\n')).toBe('# a=1\n\nb = x\\\n a = y\n');
    expect(without('')).toBe('');
  });
});
