import { fullName, partsOf } from './full-name';

describe('full names', () => {
  it.each([
    [[null, 'sales', 'orders'], 'sales.orders'],
    [['main', 'sales', 'orders_2$-x'], 'main.sales.orders_2$-x'],
    [['a.b', 'c`d', 'e f'], '`a.b`.`c``d`.`e f`'],
    [['Größe', '表'], 'Größe.表'],
    [['"', "'"], '`"`.`\'`'],
  ])('of %j is %s and can be parsed back', (parts, name) => {
    expect(fullName(...parts)).toBe(name);
    expect(partsOf(name)).toEqual(parts.filter((part) => part !== null));
  });

  it('accepts unnecessary quotes and missing ones', () => {
    expect(partsOf('`sales`.order lines')).toEqual(['sales', 'order lines']);
  });

  it.each(['', '.', 'a.', '.a', 'a..b', '``', 'a.``', '`a', 'a`b`', '`a`b', '`a` .b', '`'.repeat(9)])(
    'refuses %j',
    (name) => {
      expect(() => partsOf(name)).toThrow('is not a full name');
    },
  );
});
