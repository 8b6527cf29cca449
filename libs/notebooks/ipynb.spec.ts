import { exactJson } from '../json/exact-json';
import { readOpaque } from '../json/opaque-json';
import { JSON_BOUNDS, parseStrictJson } from '../json/strict-json';
import { isShallow } from './json';
import { documentText, emptyDocument, ipynbText, MAX_CELLS, NO_OUTPUTS, readIpynb } from './ipynb';
import { mergedStreams, type NbOutput, readOutput } from './outputs';

const notebook = (...cells: unknown[]) => ({ cells, metadata: {}, nbformat: 4, nbformat_minor: 5 });
const code = (source: unknown, more: object = {}) => ({
  cell_type: 'code',
  source,
  metadata: {},
  outputs: [],
  ...more,
});

async function written(given: unknown): Promise<Record<string, unknown>> {
  const { document, outputs } = readIpynb(given);
  const parts: string[] = [];
  for await (const part of ipynbText(document, ({ id }) => {
    const left = outputs.get(id);
    return left
      ? {
          executionCount: left.executionCount,
          outputs: left.outputs.map((one, i) => (i ? ',' : '') + JSON.stringify(one)),
        }
      : NO_OUTPUTS;
  })) {
    parts.push(part.toString());
  }
  return JSON.parse(parts.join('')) as Record<string, unknown>;
}

describe('a notebook that is read and written', () => {
  it('keeps keys that nobody knows, of the notebook and of cells', async () => {
    const given = {
      ...notebook(
        {
          id: 'a',
          cell_type: 'markdown',
          source: 'x',
          metadata: { tags: ['t'] },
          attachments: { p: { 'image/png': 'AA' } },
        },
        {
          id: 'b',
          cell_type: 'code',
          source: '1\n2',
          metadata: {},
          execution_count: 3,
          outputs: [
            {
              output_type: 'display_data',
              data: { 'text/plain': 'x', 'application/x+json': [1] },
              metadata: { a: 1 },
            },
            { output_type: 'error', ename: 'E', evalue: '', traceback: [] },
          ],
          odd: 1,
        },
        { id: 'c', cell_type: 'raw', source: '', metadata: {} },
      ),
      metadata: { kernelspec: { name: 'k' }, more: { x: null } },
      further: { y: 1 },
    };
    expect(await written(given)).toEqual(given);
    expect(await written(await written(given))).toEqual(given);
  });

  it('joins lines, and is of format 4.5 at least', async () => {
    const out = await written({ ...notebook(code(['a\n', 'b'])), nbformat_minor: 2 });
    expect(out).toMatchObject({ nbformat_minor: 5, cells: [{ source: 'a\nb' }] });
    expect(await written({ ...notebook(), nbformat_minor: 7 })).toMatchObject({ nbformat_minor: 7 });
  });

  it('has the same made-up ids for the same file where they are absent, shared or none', () => {
    const given = notebook(
      code('x'),
      code('x'),
      code('y', { id: 'a' }),
      code('z', { id: 'a' }),
      code('z', { id: 'no id!' }),
    );
    const ids = readIpynb(given).document.cells.map(({ id }) => id);
    expect(new Set(ids).size).toBe(5);
    expect(ids[2]).toBe('a');
    for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(readIpynb(given).document.cells.map(({ id }) => id)).toEqual(ids);
  });

  it('has the text of its document without outputs, and NUL and halves of pairs in it', () => {
    const { document, outputs } = readIpynb(
      notebook(code('a\u0000\ud800', { execution_count: 1, outputs: [{ output_type: 'stream', text: 'x' }] })),
    );
    const text = documentText(document);
    expect(text).not.toContain('outputs');
    expect(text).not.toContain('\u0000');
    expect(JSON.parse(text)).toEqual(document);
    expect([...outputs.values()]).toEqual([
      { executionCount: 1, outputs: [{ output_type: 'stream', name: 'stdout', text: 'x' }] },
    ]);
  });

  const deep: unknown = JSON.parse(`${'['.repeat(5_000)}${']'.repeat(5_000)}`);
  it.each<[string, unknown, RegExp]>([
    ['a text', 'x', /JSON object/],
    ['a list', [], /JSON object/],
    ['nothing of a notebook', {}, /nbformat must be 4/],
    ['an older format', { nbformat: 3, worksheets: [] }, /nbformat must be 4/],
    ['cells that are no list', { nbformat: 4, cells: {} }, /"cells" must be a list/],
    ['a cell that is not an object', notebook(1), /Cell 1 must be an object/],
    [
      'a cell of another type',
      notebook(code('a'), { cell_type: 'heading', source: '' }),
      /Cell 2 must have one of the cell types/,
    ],
    ['a cell without a source', notebook({ cell_type: 'code' }), /source/],
    ['a source that is neither text nor lines', notebook(code([1])), /source/],
    ['too many cells', { nbformat: 4, cells: new Array(1_000_000).fill(code('')) }, new RegExp(`${MAX_CELLS} cells`)],
    ['too deep a nest', { ...notebook(), metadata: { deep } }, /levels of nesting/],
  ])('is refused with %s', (_what, given, why) => {
    expect(() => readIpynb(given)).toThrow(why);
  });

  it.each(['[1.0]', '["a",1e5]', '1.0'])('is refused if a source is %s instead of a text', (source) => {
    const text = JSON.stringify(notebook(code('?'))).replace('"?"', source);
    const parsed = parseStrictJson(Buffer.from(text), JSON_BOUNDS, 'exact');
    expect(parsed).toEqual({ value: expect.any(Object) });
    expect(() => readIpynb((parsed as { value: object }).value)).toThrow(/Cell 1 must have a "source"/);
  });

  it('of wrong types in what is not needed does without it', () => {
    const { document, outputs } = readIpynb({
      ...notebook(
        code('a', { metadata: 1, outputs: {}, execution_count: 'x' }),
        code('b', { outputs: [1, {}, null], execution_count: -1 }),
      ),
      metadata: [],
      nbformat_minor: 'x',
    });
    expect(document).toMatchObject({ metadata: {}, nbformat_minor: 5, cells: [{ metadata: {} }, {}] });
    expect(outputs.size).toBe(0);
  });

  it('of a huge text is read and written', async () => {
    const text = 'é'.repeat(4_000_000);
    expect(await written(notebook(code(text)))).toMatchObject({ cells: [{ source: text }] });
  });

  it('is empty with a kernel of its language', () => {
    expect(emptyDocument('Scala')).toMatchObject({ cells: [], metadata: { kernelspec: { language: 'scala' } } });
  });
});

describe('an output', () => {
  it('that claims to be one is read as far as it is one', () => {
    expect(readOutput({ output_type: 'stream', name: 'x', text: ['a', 'b'] })).toEqual({
      output_type: 'stream',
      name: 'stdout',
      text: 'ab',
    });
    expect(
      readOutput({
        output_type: 'execute_result',
        data: { 'text/plain': ['a'], 'image/png': 1, 'application/json': { a: 1 } },
      }),
    ).toEqual({
      output_type: 'execute_result',
      data: { 'text/plain': 'a', 'application/json': { a: 1 } },
      metadata: {},
      execution_count: null,
    });
    expect(readOutput({ output_type: 'error', traceback: ['a', 1], ename: 2 })).toEqual({
      output_type: 'error',
      ename: '',
      evalue: '',
      traceback: ['a'],
    });
    for (const none of [
      null,
      1,
      [],
      {},
      { output_type: 'stream' },
      { output_type: 'stream', text: [1] },
      { output_type: 'display_data' },
    ]) {
      expect(readOutput(none)).toBeNull();
    }
    const deep: unknown = JSON.parse(`${'{"a":'.repeat(3_000)}1${'}'.repeat(3_000)}`);
    expect([isShallow(deep), readOutput({ output_type: 'display_data', data: { 'application/json': deep } })]).toEqual([
      false,
      null,
    ]);
  });

  it.each([
    ['["\\udbff[[","]x"]', '\ufffd[[]x'],
    ['["\\udbff1",".0"]', '\ufffd1.0'],
    ['["","\\udbff{\\"a\\":"]', '\ufffd{"a":'],
    ['["\\udbff\\udc00","1.0"]', '\u{10fc00}1.0'],
    ['[1.0,"a"]', null],
    ['[[1.0]]', null],
    ['{"a":["b"]}', null],
    ['1.0', null],
  ])('has a text or none, whatever lines are read from %s', (given, text) => {
    const content = `{"text":${given},"data":{"text/html":${given},"a/b":"c"},"ename":${given},"traceback":["d",${given}]}`;
    for (const parsedLevels of [1, 2, 3]) {
      const read = readOpaque(Buffer.from(content), { ...JSON_BOUNDS, bytes: 1_000, parsedLevels }) as object;
      const kept = (output_type: string) => {
        const output = readOutput({ ...read, output_type });
        return output && (JSON.parse(exactJson(output)) as unknown);
      };
      const ofStream = { output_type: 'stream', name: 'stdout', text };
      expect(kept('stream')).toEqual(text === null ? null : ofStream);
      expect(kept('error')).toMatchObject({ ename: '', traceback: parsedLevels === 1 ? [] : ['d'] });
      const data = { ...(text === null ? {} : { 'text/html': text }), 'a/b': 'c' };
      expect(kept('display_data')).toEqual(
        parsedLevels === 1 ? null : { output_type: 'display_data', data, metadata: {} },
      );
    }
  });

  it('has no keys but those of nbformat 4.5, whatever a message or a file says', () => {
    const foreign = { transient: { display_id: 'x' }, more: 1, name: 'stderr', text: 'x', data: {}, metadata: {} };
    const keysOf = (output_type: string) =>
      Object.keys(readOutput({ ...foreign, output_type, ename: 'E', evalue: 'v', traceback: [] }) ?? {}).sort();
    expect(keysOf('stream')).toEqual(['name', 'output_type', 'text']);
    expect(keysOf('display_data')).toEqual(['data', 'metadata', 'output_type']);
    expect(keysOf('execute_result')).toEqual(['data', 'execution_count', 'metadata', 'output_type']);
    expect(keysOf('error')).toEqual(['ename', 'evalue', 'output_type', 'traceback']);
  });

  it('of a stream that goes on is one', () => {
    const print = (text: string, name: 'stdout' | 'stderr' = 'stdout'): NbOutput => ({
      output_type: 'stream',
      name,
      text,
    });
    const many = Array.from({ length: 100_000 }, () => print('x'));
    const merged = mergedStreams([print('a'), print('b'), print('c', 'stderr'), ...many, print('', 'stderr')]);
    expect(merged.map((one) => (one as { text: string }).text)).toEqual(['ab', 'c', 'x'.repeat(100_000), '']);
  });
});
