import { KeyedSlots } from './keyed-slots';

describe('KeyedSlots', () => {
  it('are limited in all and per key', () => {
    const slots = new KeyedSlots({ all: 3, perKey: 2 });
    const [give] = [slots.take('a'), slots.take('a')];
    expect(slots.take('a')).toBe('perKey');
    slots.take('b');
    expect(slots.take('c')).toBe('all');
    if (typeof give !== 'function') throw new Error('no slot');
    give();
    give();
    expect(typeof slots.take('c')).toBe('function');
    expect(slots.take('a')).toBe('all');
  });
});
