import type { Completion, CompletionContext, CompletionResult, CompletionSource } from '@codemirror/autocomplete';
import { keywordCompletionSource } from '@codemirror/lang-sql';
import type { EditorView } from '@codemirror/view';
import type { CatalogName, CatalogNames, ListKey, NameList } from './catalog-names';
import { type NameAt, nameAt, type TableRef } from './names-at';
import { isPlainName, quoted } from './quoted-names';
import { SPARK } from './spark-dialect';

/** Names of a metastore as SQL on a cluster with it names them. */
export interface SqlCatalog {
  names: CatalogNames;
  /** Names of the catalogs in Spark; the first one is the default. */
  catalogs: readonly string[];
  /** True if the metastore itself has the catalogs, as Unity does; else it has one, without a name. */
  hasCatalogs: boolean;
}

/** A session begins in this schema. */
const DEFAULT_SCHEMA = 'default';
/** A search is sent when nothing was typed for this time. */
const PAUSE_MS = 200;
const MAX_DETAIL = 60;
const BEHIND_DOT = /\.\s*[\p{L}\p{N}_]*/u;

/** Completes the words of SQL, and names of a catalog. */
export function sqlCompletions(current: () => SqlCatalog | null): CompletionSource[] {
  const words = keywordCompletionSource(SPARK);
  // Behind a dot stand names only.
  return [catalogCompletion(current), (context) => (context.matchBefore(BEHIND_DOT) ? null : words(context))];
}

/** Completes names of catalogs, schemas, tables and columns. Behind a dot, or when somebody asks, lists are read; else those that are known count. */
function catalogCompletion(current: () => SqlCatalog | null): CompletionSource {
  return async (context) => {
    const catalog = current();
    const at = catalog && nameAt(context.state.doc.toString(), context.pos);
    if (!at) return null;
    const mayRead = context.explicit || at.path.length > 0;
    if (!mayRead && at.from === context.pos && !at.isQuoted) return null;
    const groups = await Promise.all(
      groupsAt(at, catalog).map((group) => listed(group, { catalog, context, at, mayRead })),
    );
    if (context.aborted) return null;
    return resultOf(at, groups);
  };
}

/** Names of one kind that may stand at the cursor: a list of the metastore, or what is known without it. */
interface Group {
  type: 'namespace' | 'class' | 'property' | 'variable';
  list?: ListKey;
  names?: readonly CatalogName[];
}

function groupsAt({ path, isTable, tables }: NameAt, catalog: SqlCatalog): Group[] {
  const [first = '', second = ''] = path;
  if (path.length === 0) return isTable ? firstNames(catalog) : ofTables(tables, catalog);
  if (path.length === 1) {
    const table = tableCalled(first, tables);
    if (table) return columnsOf(table, catalog);
    return isCatalog(first, catalog) ? [schemasOf(first, catalog)] : [tablesOf(defaultOf(catalog), first, catalog)];
  }
  // Behind an alias and a column stand fields, which no list has.
  if (tables.some(({ alias }) => alias === first)) return [];
  if (path.length === 2 && isCatalog(first, catalog)) return [tablesOf(first, second, catalog)];
  return columnsOf({ path, alias: null }, catalog);
}

/** Returns the names with which the name of a table may begin. */
function firstNames(catalog: SqlCatalog): Group[] {
  return [
    { type: 'namespace', names: catalog.catalogs.map((name) => ({ name, detail: 'catalog' })) },
    schemasOf(defaultOf(catalog), catalog),
    tablesOf(defaultOf(catalog), DEFAULT_SCHEMA, catalog),
  ];
}

function ofTables(tables: readonly TableRef[], catalog: SqlCatalog): Group[] {
  const names = tables.map(({ path, alias }) => ({ name: alias ?? path.at(-1) ?? '', detail: path.join('.') }));
  return [{ type: 'variable', names }, ...tables.flatMap((table) => columnsOf(table, catalog))];
}

function tableCalled(name: string, tables: readonly TableRef[]): TableRef | undefined {
  const wanted = name.toLowerCase();
  return tables.find(({ path, alias }) => (alias ?? path.at(-1))?.toLowerCase() === wanted);
}

function columnsOf({ path }: TableRef, catalog: SqlCatalog): Group[] {
  const [table, schema = DEFAULT_SCHEMA, name = defaultOf(catalog), ...more] = path.toReversed();
  if (table === undefined || more.length > 0 || !isCatalog(name, catalog)) return [];
  return [{ type: 'property', list: { of: 'columns', catalog: inMetastore(name, catalog), schema, table } }];
}

function schemasOf(name: string, catalog: SqlCatalog): Group {
  return { type: 'namespace', list: { of: 'schemas', catalog: inMetastore(name, catalog) } };
}

function tablesOf(name: string, schema: string, catalog: SqlCatalog): Group {
  return { type: 'class', list: { of: 'tables', catalog: inMetastore(name, catalog), schema } };
}

function isCatalog(name: string, { catalogs }: SqlCatalog): boolean {
  return catalogs.includes(name);
}

function defaultOf({ catalogs }: SqlCatalog): string {
  return catalogs[0] ?? '';
}

function inMetastore(name: string, { hasCatalogs }: SqlCatalog): string | undefined {
  return hasCatalogs ? name : undefined;
}

interface Listing {
  catalog: SqlCatalog;
  context: CompletionContext;
  at: NameAt;
  mayRead: boolean;
}

interface Listed {
  options: Completion[];
  isCut: boolean;
}

async function listed({ type, list, names }: Group, listing: Listing): Promise<Listed> {
  const found = list ? await namesOf(list, listing) : { names: names ?? [], isCut: false };
  return { options: found.names.map((name) => optionOf(name, type, listing.at.isQuoted)), isCut: found.isCut };
}

async function namesOf(list: ListKey, { catalog: { names }, context, at, mayRead }: Listing): Promise<NameList> {
  if (!mayRead) return names.known(list);
  const whole = await names.list(list);
  const part = context.state.sliceDoc(at.from, context.pos);
  if (!whole.isCut || part === '') return whole;
  const signal = endOf(context);
  await paused(signal);
  // A text with fewer characters finds more, so this list is for the present one only.
  return signal.aborted ? whole : { ...(await names.search(list, part, signal)), isCut: true };
}

/** Returns a signal that is aborted when the text changes, so that one search at most is on its way. */
function endOf(context: CompletionContext): AbortSignal {
  const ending = new AbortController();
  context.addEventListener('abort', () => ending.abort(), { onDocChange: true });
  if (context.aborted) ending.abort();
  return ending.signal;
}

function paused(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, PAUSE_MS);
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
  });
}

function optionOf({ name, detail }: CatalogName, type: Group['type'], isQuoted: boolean): Completion {
  const shown = detail !== undefined && detail.length > MAX_DETAIL ? `${detail.slice(0, MAX_DETAIL)}…` : detail;
  return {
    label: name,
    type,
    ...(shown !== undefined && { detail: shown }),
    ...(isQuoted ? { apply: inQuotes } : !isPlainName(name) && { apply: quoted(name) }),
  };
}

/** Ends the name within the quote that was typed. The editor may have added the other quote. */
function inQuotes(view: EditorView, { label }: Completion, from: number, to: number): void {
  const insert = quoted(label).slice(1);
  const end = view.state.sliceDoc(to, to + 1) === '`' ? to + 1 : to;
  view.dispatch({
    changes: { from, to: end, insert },
    selection: { anchor: from + insert.length },
    userEvent: 'input.complete',
  });
}

function resultOf({ from, isQuoted }: NameAt, groups: readonly Listed[]): CompletionResult | null {
  const options = groups.flatMap((group) => group.options);
  if (options.length === 0) return null;
  // A list that was cut is searched again with each character.
  if (groups.some(({ isCut }) => isCut)) return { from, options };
  return { from, options, validFor: isQuoted ? /^[^`]*$/ : /^[\p{L}\p{N}_]*$/u };
}
