import { bool, i32, list, map, method, string, struct, ThriftException } from './thrift-structs';

const POINT = struct({ x: [1, i32], y: [2, i32] });
const WHOLE = struct({
  flag: [1, bool],
  count: [2, i32],
  name: [3, string],
  names: [4, list(string)],
  points: [5, list(POINT)],
  lists: [6, list(list(bool))],
  texts: [7, map(string)],
  byName: [8, map(POINT)],
  point: [-9, POINT],
});
/** Has its argument where answers have their result, so that it reads what it has written. */
const echo = method('echo', { success: [0, WHOLE] }, WHOLE, ['Late', 'Denied']);

const whole = {
  flag: true,
  count: -(2 ** 31),
  name: 'größe 表🙂',
  names: ['', 'a\u0000b'],
  points: [POINT.none, { x: 1, y: null }],
  lists: [[], [true, false]],
  texts: Object.fromEntries([
    ['__proto__', 'own'],
    ['', ''],
  ]),
  byName: { origin: { x: 0, y: 0 } },
  point: { x: null, y: 7 },
};

const text = (value: string): string => value.length.toString(16).padStart(8, '0') + Buffer.from(value).toString('hex');
const head = (type: number): string => `8001000${type}${text('echo')}00000005`;
const read = (fields: string, type = 2) => echo.read(Buffer.from(`${head(type)}${fields}`, 'hex'));
/** An answer whose result has these fields. */
const readWhole = (fields: string) => read(`0c0000${fields}0000`);
const thrown = (answer: () => unknown): unknown => {
  try {
    return answer();
  } catch (error) {
    return error;
  }
};

describe('structs of Thrift', () => {
  it('are read as they were written, with all types', () => {
    expect(echo.read(echo.call(1, { success: whole }))).toStrictEqual(whole);
    expect(echo.read(echo.call(1, { success: WHOLE.none }))).toStrictEqual(WHOLE.none);
  });

  it('are written as Thrift writes them', () => {
    const success = { ...WHOLE.none, flag: true, count: -2, name: 'ab', names: ['c'], texts: { k: 'v' } };
    const fields = ['020001 01', '080002 fffffffe', `0b0003 ${text('ab')}`, `0f0004 0b 00000001 ${text('c')}`];
    const written = [...fields, `0d0007 0b0b 00000001 ${text('k')}${text('v')}`].join('').replaceAll(' ', '');
    expect(echo.call(5, { success }).toString('hex')).toBe(`${head(1)}0c0000${written}0000`);
  });

  it.each([
    ['of unknown ids', 99],
    ['of another type than theirs', 3],
  ])('are read without fields %s', (_case, id) => {
    const values = ['02 01', '03 7f', `04 ${'40'.repeat(8)}`, '06 0102', '08 00000001', `0a ${'01'.repeat(8)}`];
    const nested = [
      '0c 080001 00000001 00',
      '0d 0b0c 00000001 00000000 00',
      '0e 08 00000001 00000007',
      '0f 0a 00000000',
    ];
    const others = [...values, ...nested].map((value) => value.replace(' ', id.toString(16).padStart(4, '0')));
    expect(readWhole(`${others.join('').replaceAll(' ', '')}08000200000007`)).toEqual({ ...WHOLE.none, count: 7 });
  });

  it('are not read from incomplete bytes', () => {
    const message = echo.call(1, { success: whole });
    for (let length = 0; length < message.length; length += 1)
      expect(() => echo.read(message.subarray(0, length))).toThrow();
  });

  it.each([
    ['a text of 2 GB', '0b00037fffffff'],
    ['a text of a negative size', '0b0003ffffffff'],
    ['2^31 texts', '0f00040b7fffffff'],
    ['2^31 structs', '0f00050c7fffffff'],
    ['2^31 entries', '0d00070b0b7fffffff'],
    ['numbers for texts', '0f0004080000000100000000'],
    ['numbers for keys', '0d0007080b000000010000000000000000'],
    ['numbers for values', '0d00070b08000000010000000000000000'],
    ['structs in structs without end', '0c0063'.repeat(100_000)],
  ])('are not read from %s', (_case, fields) => {
    expect(() => readWhole(fields)).toThrow();
  });

  it('distinguish exceptions', () => {
    const said = `0b0001${text('no')}`;
    expect(thrown(() => read(`0c0001${said}0000`))).toMatchObject({ kind: 'Late', message: 'no' });
    expect(thrown(() => read('0c00020000'))).toMatchObject({ kind: 'Denied', message: 'Denied' });
    const own = thrown(() => read(`${said}0800020000000100`, 3));
    expect(own).toMatchObject({ kind: 'TApplicationException', message: 'no', type: 1 });
    const nothing = thrown(() => read('00'));
    expect(nothing).toBeInstanceOf(ThriftException);
    expect(nothing).toMatchObject({ kind: null, message: '' });
    expect(method('none', {}, null, []).read(Buffer.from(`${head(2)}00`, 'hex'))).toBeUndefined();
  });
});
