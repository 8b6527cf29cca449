import { execFileSync, spawnSync } from 'node:child_process';
import { fetchResults } from '../../test/harness/hive-messages';

/** Fetches rows of given sizes from a server that loses its position when it fails. The limits are a thousandth of the real ones. */
const FETCHES = `
import json, struct, sys
sys.path.insert(0, sys.argv[1])
import thrift_messages as messages
import thrift_pages as pages
pages.MAX_RESPONSE_BYTES, pages.PAGE_BYTES = 32_000, 8_000

class Server:
    def __init__(self, widths, is_forward, failing):
        self.widths, self.is_forward, self.failing = widths, is_forward, failing
        self.begin = self.next = 0
        self.asked = []

    def ask(self, message):
        fetch = messages.Fetch(message)
        if fetch.rows > 0:
            self.asked.append(fetch.rows)
        if len(self.asked) in self.failing and self.failing[len(self.asked)] == "before":
            del self.failing[len(self.asked)]
            raise RuntimeError("no answer")
        if fetch.begin == messages.PRIOR and self.is_forward:
            return messages.failure("FetchResults", bytes(4), "no way back", "HY000")
        if fetch.begin == messages.PRIOR:
            self.next = max(0, self.begin - fetch.rows)
        elif fetch.begin == messages.FIRST:
            self.next = 0
        self.begin = self.next
        rows = self.widths[self.begin : self.begin + fetch.rows]
        self.next += len(rows)
        if self.failing.pop(len(self.asked), None):
            raise RuntimeError("no answer")
        answer = self.answer(rows)
        if len(answer) > pages.MAX_RESPONSE_BYTES:
            raise pages.TooLong(len(answer))
        return answer

    def answer(self, rows):
        field, struct_of, text = messages._field, messages._struct, messages._text
        values = struct.pack(">Bi", messages.STRING, len(rows)) + b"".join(text(bytes(width)) for width in rows)
        column = struct_of(field(messages.STRUCT, 7, struct_of(field(messages.LIST, 1, values))))
        set_of = field(messages.I64, 1, struct.pack(">q", self.begin)) + field(messages.LIST, 2, struct.pack(">Bi", 12, 0))
        set_of += field(messages.LIST, 3, struct.pack(">Bi", messages.STRUCT, 1) + column)
        status = field(messages.STRUCT, 1, struct_of(field(messages.I32, 1, bytes(4))))
        body = status + field(messages.BOOL, 2, bytes(1)) + field(messages.STRUCT, 3, struct_of(set_of))
        return messages._head(messages.REPLY, b"FetchResults", bytes(4)) + struct_of(field(messages.STRUCT, 0, struct_of(body)))

given = json.load(sys.stdin)
server = Server(given["widths"], given["is_forward"], {int(at): when for at, when in given["failing"].items()})
cursor = pages.Cursor()
said = []
for text in given["fetches"]:
    message = bytes.fromhex(text)
    try:
        answer = cursor.fetch(server.ask, message, messages.Fetch(message))
        page = messages.Page(answer)
        has_more = answer != server.answer(server.widths[page.begin : page.begin + page.count])
        said.append([page.begin, page.count, has_more])
    except messages.Refused as error:
        said.append([error.state, str(error)])
    except RuntimeError as error:
        said.append([str(error)])
print(json.dumps({"said": said, "asked": server.asked}))
`;

const [NEXT, PRIOR, FIRST] = [0, 1, 4];
type Fetch = [begin: number, rows: number];
interface Outcome {
  said: unknown[][];
  asked: number[];
}

const hasPython = spawnSync('python3', ['--version']).status === 0;

// The program of the bridge is real. Spark's Thrift server is left out.
(hasPython ? describe : describe.skip)('fetches of rows', () => {
  const operation = { guid: Buffer.alloc(16, 1), secret: Buffer.alloc(16, 2) };
  const fetch = (
    widths: number[],
    fetches: Fetch[],
    options: { isForward?: boolean; failing?: object } = {},
  ): Outcome =>
    JSON.parse(
      execFileSync('python3', ['-c', FETCHES, __dirname], {
        input: JSON.stringify({
          widths,
          fetches: fetches.map(([begin, rows]) => fetchResults(operation, rows, begin).toString('hex')),
          is_forward: options.isForward ?? false,
          failing: options.failing ?? {},
        }),
        encoding: 'utf8',
      }),
    ) as Outcome;
  const rows = (count: number, width: number) => Array.from({ length: count }, () => width);
  const times = (count: number, rowsEach: number) => rows(count, 0).map((): Fetch => [NEXT, rowsEach]);
  /** Expects every row once and in order. */
  const expectAll = ({ said }: Outcome, count: number) => {
    let next = 0;
    for (const [begin, found] of said) {
      expect(begin).toBe(next);
      next += Number(found);
    }
    expect(next).toBe(count);
    expect(said.at(-1)).toEqual([count, 0, false]);
  };

  it('request few rows first, and as many as the client does once the rows turn out to be narrow', () => {
    const found = fetch(rows(2_500, 0), times(5, 1_000));
    expect(found.asked).toEqual([100, 1_000, 1_000, 1_000, 1_000]);
    expect(found.said).toEqual([
      [0, 100, true],
      [100, 1_000, false],
      [1_100, 1_000, false],
      [2_100, 400, false],
      [2_500, 0, false],
    ]);
  });

  it('request fewer rows the wider they are, and set the flag that more may follow', () => {
    const found = fetch(rows(1_000, 50), times(12, 1_000));
    expectAll(found, 1_000);
    expect(found.said[1]).toEqual([100, 145, true]);
  });

  it('go back if the next rows are suddenly too wide, and lose none', () => {
    const found = fetch([...rows(1_500, 0), ...rows(100, 500), 31_000, ...rows(20, 10)], times(40, 1_000));
    expectAll({ ...found, said: found.said.slice(0, found.said.findIndex(([, count]) => count === 0) + 1) }, 1_621);
    expect(
      fetch(rows(100, 1_000), [
        [FIRST, 100],
        [NEXT, 100],
      ]).said,
    ).toEqual([
      [0, 7, true],
      [7, 7, true],
    ]);
  });

  it('skip a single row that exceeds a response, and report it', () => {
    const { said } = fetch([1, 40_000, 3], times(4, 100));
    expect(said).toEqual([
      [0, 1, true],
      [
        '54000',
        expect.stringMatching(
          /^Row 2 of the result has 40\d{3} bytes; a response may have 32000 .* by substring\. The next fetch starts after this row\.$/,
        ),
      ],
      [2, 1, true],
      [3, 0, false],
    ]);
    expect(
      fetch(
        [40_000, 1],
        [
          [FIRST, 1],
          [NEXT, 1],
        ],
      ).said,
    ).toEqual([
      ['54000', expect.stringContaining('Row 1 ')],
      [1, 1, false],
    ]);
  });

  it("return the rows of a failed fetch with the next one, whatever the server's position", () => {
    for (const when of ['before', 'behind']) {
      const found = fetch(rows(30, 1), times(5, 10), { failing: { 2: when } });
      expect([when, found.said]).toEqual([
        when,
        [[0, 10, false], ['no answer'], [10, 10, false], [20, 10, false], [30, 0, false]],
      ]);
    }
  });

  it('report lost rows if the server cannot go back, until they start at the first', () => {
    const lost = ['24000', expect.stringContaining('Fetch from the first row, or execute the statement again.')];
    const { said } = fetch(
      rows(200, 400),
      [
        [NEXT, 100],
        [NEXT, 100],
        [PRIOR, 1],
        [FIRST, 10],
        [NEXT, 10],
      ],
      { isForward: true },
    );
    expect(said).toEqual([lost, lost, lost, [0, 10, false], [10, 10, false]]);
    expect(fetch(rows(30, 1), times(2, 10), { isForward: true, failing: { 1: 'behind' } }).said).toEqual([
      ['no answer'],
      lost,
    ]);
  });

  it('return fewer of the previous rows, too, from the first of them on', () => {
    const { said } = fetch(
      [...rows(30, 1_500), ...rows(200, 0)],
      [...times(12, 1_000), [PRIOR, 230], ...times(9, 1_000)],
    );
    const again = said.slice(12).map(([begin, count]) => [begin, count]);
    expect(again.slice(0, 3)).toEqual([
      [0, 6],
      [6, 5],
      [11, 5],
    ]);
    expect(again.at(-1)).toEqual([230, 0]);
    expect(fetch([40_000, 1], [...times(2, 1), [PRIOR, 1], [NEXT, 2]]).said.slice(2)).toEqual([
      ['54000', expect.stringContaining('Row 1 ')],
      [1, 1, true],
    ]);
  });
});
