import { type LogSearchRequest, searchLog } from './log-search';

const unbounded = { maxBytes: Infinity, isOver: () => false };

function logOf(content: string) {
  const bytes = Buffer.from(content);
  let read = 0;
  return {
    size: bytes.length,
    readBytes: () => read,
    read: async (offset: number, length: number) => {
      read += length;
      return bytes.subarray(offset, offset + length);
    },
  };
}

/** Returns the places of all matches, from as many searches as that takes. */
async function placesIn(content: string, request: Partial<LogSearchRequest> & { text: string }): Promise<number[]> {
  const log = logOf(content);
  const places: number[] = [];
  let from: number | null = request.from ?? null;
  for (let count = 0; count < 10_000; count += 1) {
    const all = { direction: 'forward' as const, limit: 1_000, ...request, from };
    const { matches, next } = await searchLog(log, all, unbounded);
    places.push(...matches.map(({ offset }) => offset));
    if (next === null) return places;
    from = next;
  }
  throw new Error('The search does not end');
}

describe('searchLog', () => {
  const text = 'one\nTWO\nthree two\n\nfour';

  it.each([
    [{ text: 'two' }, [4, 8]],
    [{ text: 'two', direction: 'backward' as const }, [8, 4]],
    [{ text: 'two', from: 8 }, [8]],
    [{ text: 'two', from: 8, direction: 'backward' as const }, [4]],
    [{ text: 'FOUR' }, [19]],
    [{ text: 'four', direction: 'backward' as const }, [19]],
    [{ text: 'one', direction: 'backward' as const }, [0]],
    [{ text: 'e\nt' }, []],
    [{ text: '.' }, []],
    [{ text: 'o', limit: 1 }, [0, 4, 8, 19]],
    [{ text: 'o', limit: 1, direction: 'backward' as const }, [19, 8, 4, 0]],
    [{ text: 'o', from: 1_000_000 }, []],
  ])('finds %j', async (request, places) => {
    expect(await placesIn(text, request)).toEqual(places);
  });

  it('finds every line of a log of many windows, in both directions, whatever the limit', async () => {
    const lines = Array.from({ length: 60_000 }, (_, n) =>
      n % 977 === 0 ? `line ${n} has the nEEdle` : `line ${n} é`,
    );
    const content = lines.join('\n');
    const expected: number[] = [];
    let offset = 0;
    for (const line of lines) {
      if (line.includes('nEEdle')) expected.push(offset);
      offset += Buffer.byteLength(line) + 1;
    }
    for (const limit of [3, 1_000]) {
      expect(await placesIn(content, { text: 'needle', limit })).toEqual(expected);
      expect(await placesIn(content, { text: 'needle', limit, direction: 'backward' })).toEqual(expected.toReversed());
    }
  });

  it('finds text in the colours of a terminal, and of other alphabets', async () => {
    const { matches } = await searchLog(
      logOf('\u001b[31mER\u001b[1mROR\u001b[0m: Größe\r\n'),
      { text: 'error: GRÖSSE'.replace('SS', 'ß'), direction: 'forward', from: null, limit: 1 },
      unbounded,
    );
    expect(matches).toEqual([{ offset: 0, line: 'ERROR: Größe' }]);
  });

  it.each(['forward', 'backward'] as const)('finds text in a line without an end, %s', async (direction) => {
    for (const place of [0, 8_190, 524_286, 1_048_574, 2_999_994]) {
      const content = `${'x'.repeat(place)}needle${'x'.repeat(3_000_000 - place - 6)}`;
      const found = await placesIn(content, { text: 'needle', direction });
      expect(found.length).toBeGreaterThan(0);
      for (const offset of found) {
        expect(offset).toBeLessThanOrEqual(place);
        expect(offset).toBeGreaterThan(place - 8_193);
      }
    }
  });

  it('cuts what it returns, around the text', async () => {
    const request = { text: 'needle', direction: 'forward' as const, from: null, limit: 1 };
    const { matches } = await searchLog(logOf(`${'a'.repeat(5_000)}needle${'b'.repeat(5_000)}`), request, unbounded);
    expect(matches[0]?.line).toMatch(/^a+needleb+$/);
    expect(matches[0]?.line).toHaveLength(1_000);
  });

  it('stops when a bound is reached, and says where it goes on', async () => {
    const content = 'a line of a log\n'.repeat(500_000);
    const request = { text: 'needle', direction: 'forward' as const, from: null, limit: 10 };
    const log = logOf(content);
    const { next } = await searchLog(log, request, { maxBytes: 1_000_000, isOver: () => false });
    expect(log.readBytes()).toBeLessThan(2_000_000);
    expect(next).toBeGreaterThan(900_000);
    const late = logOf(content);
    expect((await searchLog(late, request, { maxBytes: Infinity, isOver: () => true })).next).toBeGreaterThan(0);
    expect(late.readBytes()).toBeLessThan(600_000);
  });
});
