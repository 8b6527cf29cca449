import { heapMb, javaHeap, MEMORY_FORM, memoryMb } from './memory-text';

describe('memoryMb', () => {
  it.each([
    ['512m', 512],
    ['2g', 2048],
    ['2GB', 2048],
    ['1t', 1024 * 1024],
    ['1024', 1024],
    ['1048576k', 1024],
    [' 640 M ', 640],
  ])('reads %p as %d MiB', (text, expected) => {
    expect(memoryMb(text)).toBe(expected);
  });

  it.each(['', 'much', '1.5g', '-1g', '1gg'])('returns null for %p', (text) => {
    expect(memoryMb(text)).toBeNull();
  });
});

describe('heapMb', () => {
  it.each([
    ['512m', 512],
    ['2g', 2048],
    ['536870912', 512],
    ['536870912b', 512],
    ['much', null],
  ])('reads %p as %p MiB, as the JVM does', (text, expected) => {
    expect(heapMb(text)).toBe(expected);
  });
});

describe('MEMORY_FORM', () => {
  it.each(['536870912b', '512m', '512M', '2g', '2gb', '2GB', '1Tb', '1pb', '02g'])('matches %p', (text) => {
    expect(text).toMatch(MEMORY_FORM);
  });

  it.each(['', '12 potatoes', '512', '0m', '1.5g', '-1g', '2 g', ' 2g', '2g\n', '2gg', '2bb', '2e', 'g'])(
    'does not match %p',
    (text) => expect(text).not.toMatch(MEMORY_FORM),
  );
});

describe('javaHeap', () => {
  it.each([
    ['2g', '2g'],
    ['512M', '512M'],
    ['2gb', '2g'],
    ['512MB', '512m'],
    ['536870912b', '536870912'],
    ['1p', '1024t'],
    ['2PB', '2048t'],
    ['1024', '1024'],
    ['much', 'much'],
  ])('writes %p as %p', (text, expected) => expect(javaHeap(text)).toBe(expected));
});
