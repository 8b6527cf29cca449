import { byteRange } from './byte-range';

describe('byteRange', () => {
  it.each([
    ['bytes=0-0', 0, 1],
    ['bytes=2-', 2, 10],
    ['bytes=2-5', 2, 6],
    ['bytes=9-9', 9, 10],
    ['bytes=5-99', 5, 10],
    ['bytes=-3', 7, 10],
    ['bytes=-99', 0, 10],
  ])('reads %s', (header, start, end) => {
    expect(byteRange(header, 10)).toEqual({ start, end, size: 10 });
  });

  it.each([
    undefined,
    '',
    'bytes=-',
    'bytes=5-2',
    'bytes=0-1,4-5',
    'lines=0-1',
    'bytes=a-b',
    `bytes=${'9'.repeat(40)}-`,
  ])('ignores %s', (header) => {
    expect(byteRange(header, 10)).toBeNull();
  });

  it.each([
    ['bytes=10-', 10],
    ['bytes=10-20', 10],
    ['bytes=-0', 10],
    ['bytes=0-', 0],
  ])('refuses %s of %d bytes', (header, size) => {
    expect(() => byteRange(header, size)).toThrow(
      expect.objectContaining({ kind: 'out-of-range', code: 'REQUEST.RANGE', details: { size } }),
    );
  });
});
