import { BodyMemory } from './body-memory';

describe('BodyMemory', () => {
  it('gives one caller at most half of the memory, and several callers all of it', () => {
    const memory = new BodyMemory(100);
    const [ada, bob, eve] = ['ada', 'bob', 'eve'].map((caller) => memory.hold(caller));
    ada?.add(50);
    expect(() => ada?.add(1)).toThrow('no memory for another request body');
    expect(() => memory.hold('ada').add(1)).toThrow('no memory for another request body');
    bob?.add(50);
    expect(() => eve?.add(1)).toThrow('no memory for another request body');
  });

  it('releases the memory of a body once', () => {
    const memory = new BodyMemory(100);
    const first = memory.hold('ada');
    const second = memory.hold('ada');
    first.add(30);
    second.add(20);
    first.release();
    first.release();
    second.add(30);
    expect(() => second.add(1)).toThrow();
    second.release();
    memory.hold('ada').add(50);
    memory.hold('bob').add(50);
  });
});
