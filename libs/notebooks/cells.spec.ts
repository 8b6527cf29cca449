import { readCells, shownCell, withCells } from './cells';
import { emptyDocument, MAX_CELLS, type NotebookDocument, readIpynb } from './ipynb';
import { fromShown, type NbOutput, shown } from './outputs';

const sent = (...cells: unknown[]) => readCells(cells);
const cell = (cell_uuid: string, more: object = {}) => ({ cell_uuid, code: 'x', ...more });

describe('cells that a client sends', () => {
  const before: NotebookDocument = readIpynb({
    nbformat: 4,
    metadata: { author: 'x' },
    cells: [
      { id: 'a', cell_type: 'code', source: 'x', metadata: { m: 1 }, odd: 1 },
      { id: 'r', cell_type: 'raw', source: 'x', metadata: {}, attachments: { p: {} } },
    ],
  }).document;

  it('sent back as they are shown are the same document', () => {
    const cells = before.cells.map((one) => shownCell(one, []));
    expect(cells).toEqual([
      { cell_uuid: 'a', code: 'x', cell_type: 'code', metadata: { m: 1 }, output: [], odd: 1 },
      { cell_uuid: 'r', code: 'x', cell_type: 'markdown', metadata: {}, output: [], attachments: { p: {} } },
    ]);
    expect(withCells(before, sent(...cells))).toEqual(before);
  });

  it('keep what the client does not send', () => {
    expect(withCells(before, sent(cell('a'), cell('r', { cell_type: 'markdown' })))).toEqual(before);
  });

  it('have further keys where nbformat allows any, and are shown with them', () => {
    const further = { id: 1, source: 2, outputs: 3, execution_count: 4, mine: { x: 1 } };
    const document = withCells(
      before,
      sent(cell('a', { ...further, odd: 2 }), cell('new', { attachments: {}, mine: 1 })),
    );
    expect(document.cells).toEqual([
      { id: 'a', cell_type: 'code', metadata: { m: 1, notebook_cell: further }, source: 'x', odd: 2 },
      { id: 'new', cell_type: 'code', metadata: { notebook_cell: { mine: 1 } }, source: 'x', attachments: {} },
    ]);
    const [first] = document.cells.map((one) => shownCell(one, []));
    expect(first).toEqual({
      ...further,
      cell_uuid: 'a',
      code: 'x',
      cell_type: 'code',
      metadata: { m: 1 },
      output: [],
      odd: 2,
    });
    expect(withCells(document, sent(first))).toEqual({ ...document, cells: document.cells.slice(0, 1) });
  });

  it('change type, unless the type is only shown as another', () => {
    const types = (cell_type: string) =>
      withCells(before, sent(cell('a', { cell_type }), cell('r', { cell_type }))).cells.map((one) => one.cell_type);
    expect([types('code'), types('markdown')]).toEqual([
      ['code', 'code'],
      ['markdown', 'raw'],
    ]);
  });

  const deep: unknown = JSON.parse(`${'['.repeat(3_000)}${']'.repeat(3_000)}`);
  it.each<[string, unknown[], RegExp]>([
    ['no object', [null], /^cells\[0\] must be an object/],
    ['no id', [{ code: '' }], /cell_uuid/],
    ['an empty id', [cell('')], /cell_uuid/],
    ['too long an id', [cell('x'.repeat(65))], /cell_uuid/],
    ['an id with NUL', [cell('a\u0000')], /cell_uuid/],
    ['an id twice', [cell('a'), cell('b'), cell('a')], /^cells\[2\] .*cell before/],
    ['code in lines', [{ cell_uuid: 'a', code: [] }], /code/],
    ['another type', [cell('a', { cell_type: 'raw' })], /cell_type/],
    ['metadata that is a list', [cell('a', { metadata: [] })], /metadata/],
    ['output that is no list', [cell('a', { output: {} })], /output must be a list/],
    ['an output of an unknown type', [cell('a', { output: [{ type: 'video', Celloutput: '' }] })], /output\[0\]/],
    ['an output without a text', [cell('a', { output: [{ type: 'text', Celloutput: 1 }] })], /output\[0\]/],
    ['too deep a nest', [cell('a', { metadata: { deep } })], /nested/],
    ['too many', Array.from({ length: MAX_CELLS + 1 }, (_, index) => cell(`c${index}`)), /at most/],
  ])('are refused with %s', (_what, cells, why) => {
    expect(() => readCells(cells)).toThrow(why);
  });

  it('may lack what is optional', () => {
    expect(
      withCells(emptyDocument('SQL'), sent({ cell_uuid: 'a', code: 'a\u0000', metadata: null, output: null })).cells,
    ).toEqual([{ id: 'a', cell_type: 'code', metadata: {}, source: 'a\u0000' }]);
  });
});

describe('an output as the API shows it', () => {
  const data = (values: object): NbOutput => ({ output_type: 'display_data', data: { ...values }, metadata: {} });
  const svg = '<svg xmlns="é"/>';
  const svgUrl = `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`;

  it.each<[string, NbOutput, string, string]>([
    ['a stream', { output_type: 'stream', name: 'stderr', text: 'a\u0000' }, 'text', 'a\u0000'],
    [
      'an error',
      { output_type: 'error', ename: 'E', evalue: 'v', traceback: ['\u001b[0;31mE\u001b[0m', '\u001b]0;t\u0007b'] },
      'text',
      'E\nb',
    ],
    ['an error without a traceback', { output_type: 'error', ename: 'E', evalue: 'v', traceback: [] }, 'text', 'E: v'],
    [
      'a picture before all else',
      data({ 'text/plain': 'x', 'text/html': '<b>', 'image/png': 'AA==\n' }),
      'image',
      'data:image/png;base64,AA==',
    ],
    ['SVG', data({ 'image/svg+xml': svg }), 'image', svgUrl],
    ['HTML before text', data({ 'text/plain': 'x', 'text/html': '<b>' }), 'html', '<b>'],
    ['Markdown as text', data({ 'text/markdown': '*x*' }), 'text', '*x*'],
    ['JSON as text', data({ 'application/json': { a: [1] } }), 'text', '{"a":[1]}'],
    ['nothing', data({}), 'text', ''],
  ])('is %s', (_what, output, type, content) => {
    expect(shown(output)).toEqual({ type, Celloutput: content });
  });

  it.each<[string, string]>([
    ['text', 'plain'],
    ['html', '<b>'],
    ['image', 'data:image/png;base64,AA=='],
    ['image', 'data:image/jpeg;base64,AAAA'],
    ['image', svgUrl],
  ])('%s comes back as it was', (type, content) => {
    const output = fromShown({ type: type as 'text', Celloutput: content });
    expect(output && shown(output)).toEqual({ type, Celloutput: content });
  });

  it('takes SVG in percent encoding', () => {
    const output = fromShown({
      type: 'image',
      Celloutput: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`,
    });
    expect(output).toEqual(data({ 'image/svg+xml': svg }));
  });

  it.each([
    '',
    'x',
    'http://example.org/a.png',
    'data:text/html;base64,AA==',
    'data:image/png,AA',
    'data:image/png;base64,<script>',
    'data:image/svg+xml,%zz',
    `data:image/png${';a=b'.repeat(100_000)},`,
  ])('is no image from %.40s', (url) => {
    expect(fromShown({ type: 'image', Celloutput: url })).toBeNull();
  });

  it('of a huge image is checked in linear time', () => {
    const url = `data:image/png;base64,${'A'.repeat(8_000_000)}!`;
    expect(fromShown({ type: 'image', Celloutput: url })).toBeNull();
  });
});
