import { behindByteOrderMark, withoutByteOrderMark } from './byte-order-mark';

describe('byte order marks', () => {
  it('are removed only at the beginning of a text', () => {
    expect(withoutByteOrderMark('\uFEFFval a = "\uFEFF"\r\n')).toBe('val a = "\uFEFF"\r\n');
  });

  it('are removed only at the beginning of bytes', () => {
    expect(behindByteOrderMark(Buffer.from('\uFEFF{"a":"\uFEFF"}')).toString()).toBe('{"a":"\uFEFF"}');
    expect(behindByteOrderMark(Buffer.from('{}')).toString()).toBe('{}');
  });
});
