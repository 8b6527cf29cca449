import { type Completion, CompletionContext } from '@codemirror/autocomplete';
import { sql } from '@codemirror/lang-sql';
import { EditorState, type TransactionSpec } from '@codemirror/state';
import type { EditorView } from '@codemirror/view';
import { QueryClient } from '@tanstack/react-query';
import { sqlCompletions, type SqlCatalog } from './catalog-completion';
import { type CatalogName, CatalogNames, type ListKey, type PageRequest } from './catalog-names';
import { SPARK } from './spark-dialect';

const LARGE = 5_000;

/** The lists of a metastore with the catalogs main and lab, and a schema of 5,000 tables. */
const LISTS: Record<string, readonly string[]> = {
  'schemas of main': ['sales', 'my schema', 'large'],
  'schemas of lab': ['trials'],
  'tables of main.sales': ['orders', 'order', '`; drop table x'],
  'tables of main.default': ['notes'],
  'tables of main.large': Array.from({ length: LARGE }, (_, index) => `t_${String(index).padStart(4, '0')}`),
  'tables of main.medium': Array.from({ length: 300 }, (_, index) => `m_${index}`),
  'tables of lab.trials': ['runs'],
  'columns of main.sales.orders': ['id', 'day', 'amount due'],
  'columns of main.default.notes': ['text'],
};

const textOf = (list: ListKey) => {
  const { of, catalog, schema, table } = list as ListKey & { schema?: string; table?: string };
  return `${of} of ${[catalog, schema, table].filter((part) => part !== undefined).join('.')}`;
};

describe('completion of the names of a catalog', () => {
  const page = jest.fn(async (list: ListKey, { limit, part }: PageRequest) => {
    await Promise.resolve();
    const all = LISTS[textOf(list)];
    if (!all) throw new Error('There is no such schema.');
    const names = all.filter((name) => name.includes(part ?? '')).map((name): CatalogName => ({ name }));
    return { names: names.slice(0, limit), total: names.length };
  });
  const requests = () => page.mock.calls.map(([list, { part }]) => textOf(list) + (part ? ` with ${part}` : ''));
  const queries = new QueryClient();
  let catalog: SqlCatalog | null;

  beforeEach(() => {
    page.mockClear();
    const names = new CatalogNames(queries, { page }, 'lake');
    catalog = { names, catalogs: ['main', 'lab'], hasCatalogs: true };
  });

  afterEach(() => queries.clear());

  function stateOf(marked: string): { state: EditorState; cursor: number } {
    const state = EditorState.create({ doc: marked.replace('|', ''), extensions: sql({ dialect: SPARK }) });
    return { state, cursor: marked.indexOf('|') };
  }

  /** Asks the source of names as the editor does, or the one of the words of SQL. */
  async function resultAt(marked: string, how: 'typed' | 'asked' = 'typed', of: 'names' | 'words' = 'names') {
    const { state, cursor } = stateOf(marked);
    const [names, words] = sqlCompletions(() => catalog);
    return (of === 'names' ? names : words)?.(new CompletionContext(state, cursor, how === 'asked'));
  }

  const offered = async (...request: Parameters<typeof resultAt>): Promise<readonly Completion[]> =>
    (await resultAt(...request))?.options ?? [];

  const labels = async (...request: Parameters<typeof offered>) =>
    (await offered(...request)).map(({ label }) => label);

  it.each([
    ['select * from lab.|', ['trials']],
    ['select * from lab.trials.|', ['runs']],
    ['select * from sales.ord|', ['orders', 'order', '`; drop table x']],
    ['select * from main.sales.orders.|', ['id', 'day', 'amount due']],
    ['select o.| from sales.orders o', ['id', 'day', 'amount due']],
    ['select O.| from `sales`.`orders` as o', ['id', 'day', 'amount due']],
    ['select orders.| from main.sales.orders', ['id', 'day', 'amount due']],
    ['select notes.| from notes', ['text']],
    ['select o.address.| from sales.orders o', []],
    ["select 'sales.|'", []],
  ])('offers what belongs behind the dot in %j', async (marked, names) => {
    expect(await labels(marked)).toEqual(names);
  });

  it('reads nothing while a first name is typed, and when somebody asks the names that may begin there', async () => {
    expect(await labels('select * from sa|')).toEqual(['main', 'lab']);
    expect(requests()).toEqual([]);
    expect(await labels('select * from |', 'asked')).toEqual(['main', 'lab', 'sales', 'my schema', 'large', 'notes']);
    page.mockClear();
    expect(await labels('select * from sa|')).toContain('sales');
    expect(await labels('select | from sales.orders o', 'asked')).toEqual(['o', 'id', 'day', 'amount due']);
    expect(requests()).toEqual(['columns of main.sales.orders']);
  });

  it('offers the words of SQL, but none behind a dot', async () => {
    expect(await labels('sel|', 'typed', 'words')).toContain('select');
    expect(await labels('select * from sales.ord|', 'typed', 'words')).toEqual([]);
  });

  it('names no catalog to a metastore that has one', async () => {
    catalog = { names: new CatalogNames(queries, { page }, 'hive'), catalogs: ['spark_catalog'], hasCatalogs: false };
    await labels('select * from spark_catalog.|');
    await labels('select * from spark_catalog.sales.|');
    await labels('select o.| from sales.orders o');
    expect(requests()).toEqual(['schemas of ', 'tables of sales', 'columns of sales.orders']);
  });

  it('quotes names that need it', async () => {
    const applied = async (marked: string) => (await offered(marked)).map(({ label, apply }) => apply ?? label);
    expect(await applied('select * from main.|')).toEqual(['sales', '`my schema`', 'large']);
    expect(await applied('select * from sales.|')).toEqual(['orders', '`order`', '```; drop table x`']);
  });

  it.each([
    ['select * from main.`my|` where true', 'my schema', 'select * from main.`my schema` where true'],
    ['select * from sales.`|', '`; drop table x', 'select * from sales.```; drop table x`'],
  ])('ends the quote in %j', async (marked, name, whole) => {
    const { state, cursor } = stateOf(marked);
    const result = await resultAt(marked);
    const option = result?.options.find(({ label }) => label === name);
    let text = '';
    const view = { state, dispatch: (spec: TransactionSpec) => (text = state.update(spec).state.doc.toString()) };
    if (result && option && typeof option.apply === 'function') {
      option.apply(view as unknown as EditorView, option, result.from, cursor);
    }
    expect(text).toBe(whole);
  });

  it('requests a list once, however often it is needed', async () => {
    await Promise.all([labels('select * from sales.|'), labels('select * from sales.o|'), labels('from sales.or|')]);
    await labels('select * from sales.ord|');
    expect(requests()).toEqual(['tables of main.sales']);
  });

  it('reads a list of some hundred names whole', async () => {
    expect(await labels('select * from medium.|')).toHaveLength(300);
    expect(page.mock.calls.map(([, { limit }]) => limit)).toEqual([100, undefined]);
  });

  it('searches a long list on the server, again with each character', async () => {
    expect(await labels('select * from large.|')).toHaveLength(100);
    const result = await resultAt('select * from large.t_4321|');
    expect(result?.options.map(({ label }) => label)).toEqual(['t_4321']);
    expect(result?.validFor).toBeUndefined();
    expect(requests()).toEqual(['tables of main.large', 'tables of main.large with t_4321']);
  });

  it('sends no search for a text that was typed on', async () => {
    await labels('select * from large.|');
    const { state, cursor } = stateOf('select * from large.t_4|');
    const context = new CompletionContext(state, cursor, false);
    const onAbort = jest.spyOn(context, 'addEventListener');
    const result = sqlCompletions(() => catalog)[0]?.(context);
    await new Promise((resolve) => setTimeout(resolve, 20));
    const [[, abort, options] = []] = onAbort.mock.calls;
    expect(options).toEqual({ onDocChange: true });
    abort?.();
    await result;
    expect(requests()).toEqual(['tables of main.large']);
  });

  it('offers nothing, and does not ask again at once, if the metastore does not answer', async () => {
    expect(await labels('select * from gone.|')).toEqual([]);
    expect(await labels('select * from gone.t|')).toEqual([]);
    expect(requests()).toEqual(['tables of main.gone']);
    catalog = null;
    expect(await labels('select * from sales.|')).toEqual([]);
  });

  it('gives up a metastore that takes too long', async () => {
    const late = AbortSignal.abort();
    jest.spyOn(AbortSignal, 'timeout').mockReturnValue(late);
    page.mockImplementationOnce((_list, { signal }) => {
      signal.throwIfAborted();
      return new Promise(() => {});
    });
    expect(await labels('select * from sales.|')).toEqual([]);
  });
});
