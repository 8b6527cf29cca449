import { readAhead } from './read-ahead';

describe('readAhead', () => {
  let asked: number[];
  let isClosed: boolean;

  async function* numbers(failAt = Infinity): AsyncGenerator<number, void> {
    try {
      for (let number = 1; number <= 3; number += 1) {
        asked.push(number);
        if (number === failAt) throw new Error('failed');
        yield Promise.resolve(number);
      }
    } finally {
      isClosed = true;
    }
  }

  beforeEach(() => {
    asked = [];
    isClosed = false;
  });

  it('has asked for one more than it has handed out', async () => {
    const seen: [number, number][] = [];
    for await (const number of readAhead(numbers())) {
      await new Promise(setImmediate);
      seen.push([number, asked.length]);
    }
    expect(seen).toEqual([
      [1, 2],
      [2, 3],
      [3, 3],
    ]);
  });

  it('hands out what came before a failure, then throws it', async () => {
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

  it('closes its source when nobody wants more', async () => {
    for await (const number of readAhead(numbers())) if (number === 1) break;
    expect([isClosed, asked]).toEqual([true, [1, 2]]);
  });
});
