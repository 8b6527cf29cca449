import { memoryMb } from './memory-text';

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
