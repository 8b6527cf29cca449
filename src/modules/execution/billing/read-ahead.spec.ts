import { readAhead } from './read-ahead';

describe('readAhead', () => {
  let requested: number[];
  let isClosed: boolean;

  async function* numbers(failAt = Infinity): AsyncGenerator<number, void> {
    try {
      for (let number = 1; number <= 3; number += 1) {
        requested.push(number);
        if (number === failAt) throw new Error('failed');
        yield Promise.resolve(number);
      }
    } finally {
      isClosed = true;
    }
  }

  beforeEach(() => {
    requested = [];
    isClosed = false;
  });

  it('requests one part more than it has yielded', async () => {
    const seen: [number, number][] = [];
    for await (const number of readAhead(numbers())) {
      await new Promise(setImmediate);
      seen.push([number, requested.length]);
    }
    expect(seen).toEqual([
      [1, 2],
      [2, 3],
      [3, 3],
    ]);
  });

  it('yields the parts before a failure, then throws it', async () => {
    const seen: number[] = [];
    const all = async () => {
      for await (const number of readAhead(numbers(3))) {
        await new Promise(setImmediate);
        seen.push(number);
      }
    };
    await expect(all()).rejects.toThrow('failed');
    expect(seen).toEqual([1, 2]);
  });

  it('closes its source when the consumer stops', async () => {
    for await (const number of readAhead(numbers())) if (number === 1) break;
    expect([isClosed, requested]).toEqual([true, [1, 2]]);
  });
});
