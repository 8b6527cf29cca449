import { execFileSync, spawnSync } from 'node:child_process';

/** Runs steps of the prefetch for one operation, and prints the result of each. */
const STEPS = `
import json, sys
sys.path.insert(0, sys.argv[1])
from thrift_prefetch import ReadAhead
now = [0]
ahead = ReadAhead(100, clock=lambda: now[0])
said = []
for step, *words in json.load(sys.stdin):
    if step not in ("wait", "claimed"):
        operation = ahead.operation(b"rows", "ada")
    if step == "fetched":
        ahead.fetched(operation, b"", words[0], words[1])
    elif step == "begin":
        said.append(ahead.begin(operation))
    elif step == "read":
        page = ahead.add(operation, bytes(words[1]), words[0] != "ok")
        ahead.end(operation)
        said.append(page.id)
        if page.id is not None:
            ahead.said(page)
    elif step == "next":
        page = ahead.next_page(operation)
        said.append(page and page.id)
    elif step == "claimed":
        said.append(len(ahead.claimed(words[0])))
    elif step == "unusual":
        ahead.unusual(operation)
        said.append(ahead.drop_pages(operation))
    elif step == "close":
        said.append(ahead.close([b"rows"]))
    elif step == "wait":
        now[0] += words[0]
        said.append(ahead.close_idle())
print(json.dumps(said))
`;

const MIB = 1024 * 1024;
const hasPython = spawnSync('python3', ['--version']).status === 0;

// The program of the bridge is real. The server of SQL is left out.
(hasPython ? describe : describe.skip)('pages of results that are read ahead', () => {
  const steps = (...all: unknown[][]): unknown =>
    JSON.parse(
      execFileSync('python3', ['-c', STEPS, __dirname], { input: JSON.stringify(all), encoding: 'utf8' }),
    ) as unknown;
  const page = ['read', 'ok', 9_000];
  const twice = [
    ['fetched', 'k', 9_000],
    ['fetched', 'k', 9_000],
  ];

  it('are read after two equal long fetches, more of them the longer the client continues', () => {
    expect(steps(['begin'], ['fetched', 'k', 9_000], ['begin'])).toEqual([false, false]);
    expect(steps(['fetched', 'k', 9_000], ['fetched', 'other', 9_000], ['begin'])).toEqual([false]);
    expect(steps(...twice, ['fetched', 'k', 100], ['begin'])).toEqual([false]);
    expect(steps(...twice, ['begin'], page, ['begin'], page, ['begin'], ['claimed', ['ahead-1']], ['begin'])).toEqual([
      true,
      'ahead-1',
      true,
      'ahead-2',
      false,
      1,
      true,
    ]);
  });

  it('are returned once', () => {
    expect(
      steps(
        ...twice,
        ['begin'],
        page,
        ['begin'],
        page,
        ['claimed', ['ahead-1', 'unknown']],
        ['claimed', ['ahead-1']],
        ['next'],
        ['next'],
        ['claimed', ['ahead-2']],
      ),
    ).toEqual([true, 'ahead-1', true, 'ahead-2', 1, 0, 'ahead-2', null, 0]);
  });

  it('end with a failure, which is reported in its turn', () => {
    expect(steps(...twice, ['begin'], ['read', 'error', 5], ['begin'], ['next'], ['next'])).toEqual([
      true,
      null,
      false,
      null,
      null,
    ]);
  });

  it('are dropped with their operation, by a fetch of other rows, and when unused', () => {
    const read = [...twice, ['begin'], page];
    expect(steps(...read, ['close'])).toEqual([true, 'ahead-1', ['ahead-1']]);
    expect(steps(...read, ['unusual'], ['next'], ['begin'])).toEqual([true, 'ahead-1', ['ahead-1'], null, false]);
    expect(steps(...read, ['wait', 61], ['wait', 61])).toEqual([true, 'ahead-1', [], ['ahead-1']]);
  });

  it('have no more than 32 MiB', () => {
    const long = ['read', 'ok', 15 * MIB];
    expect(steps(...twice, ['begin'], long, ['begin'], long, ['claimed', ['none']], ['begin'])).toEqual([
      true,
      'ahead-1',
      true,
      'ahead-2',
      0,
      false,
    ]);
  });
});
