import { type SqlToken, tokensOf } from '../../shared/sql/statements';

/** The name that somebody is writing, and the tables that the statement around it names. */
export interface NameAt {
  /** The names before it, such as catalog and schema, each followed by a dot. */
  path: string[];
  /** First character of the unfinished name, behind its quote if it has one. */
  from: number;
  isQuoted: boolean;
  /** True if a table is expected here. */
  isTable: boolean;
  tables: TableRef[];
}

export interface TableRef {
  path: string[];
  alias: string | null;
}

/** A longer text would take too long at each key. */
const MAX_TEXT = 200_000;
const MAX_TABLES = 20;

const BEFORE_TABLE = new Set(['from', 'join', 'into', 'update', 'table', 'describe']);

/** Words behind a table that are no alias of it, and words that are no table. */
const NO_NAME = new Set(
  `anti as cluster cross distribute except exists for full group having if inner intersect join lateral left limit
  minus natural not offset on order outer overwrite partition pivot qualify right select semi set sort tablesample timestamp
  union unpivot using values version when where window with`.split(/\s+/),
);

/** Returns what somebody is writing at the cursor; null if it is no name, as in a string or a comment. */
export function nameAt(text: string, cursor: number): NameAt | null {
  if (text.length > MAX_TEXT) return null;
  const tokens = tokensOf(text);
  const at = tokens.findIndex(({ from, to }) => from < cursor && cursor <= to);
  const token = tokens[at];
  if (token && isClosed(text, token, cursor)) return null;
  const isName = token?.kind === 'word' || token?.kind === 'quoted';
  const index = isName ? at : tokens.findLastIndex(({ to }) => to <= cursor) + 1;
  const path = pathBefore(text, tokens, { index, from: isName ? token.from : cursor });
  if (!path) return null;
  const isQuoted = token?.kind === 'quoted';
  const statement = new Statement(text, statementAround(text, tokens, cursor), cursor);
  return {
    path: path.names,
    from: isName ? token.from + Number(isQuoted) : cursor,
    isQuoted,
    isTable: BEFORE_TABLE.has(wordOf(text, tokens[path.first - 1])),
    tables: statement.tables(),
  };
}

/** Nothing can be completed in strings, comments and numbers, nor behind a quote that ends a name. */
function isClosed(text: string, { kind, from, to }: SqlToken, cursor: number): boolean {
  if (kind === 'string') return true;
  // A comment of a line has the end of the line, behind which the next one begins.
  if (kind === 'comment') return cursor < to || text[to - 1] !== '\n';
  if (kind === 'word') return /\d/.test(text[from] ?? '');
  return kind === 'quoted' && cursor === to && to - from > 1 && text[to - 1] === '`';
}

/** Returns the names before a place, with the index of the first one; null if a dot has no name before it. */
function pathBefore(
  text: string,
  tokens: readonly SqlToken[],
  place: { index: number; from: number },
): { names: string[]; first: number } | null {
  const names: string[] = [];
  for (let { index, from } = place; ; index -= 2) {
    const dot = tokens[index - 1];
    if (!dot || dot.to !== from || !isDot(text, dot)) return { names, first: index };
    const owner = tokens[index - 2];
    const name = nameOf(text, owner);
    if (!owner || name === null || owner.to !== dot.from) return null;
    names.unshift(name);
    from = owner.from;
  }
}

function statementAround(text: string, tokens: readonly SqlToken[], cursor: number): SqlToken[] {
  const isEnd = (token: SqlToken) => token.kind === 'other' && text[token.from] === ';';
  const from = tokens.findLastIndex((token) => isEnd(token) && token.to <= cursor) + 1;
  const to = tokens.findIndex((token) => isEnd(token) && token.from >= cursor);
  return tokens.slice(from, to < 0 ? undefined : to).filter(({ kind }) => kind !== 'comment');
}

/** Finds the tables of a statement, without the one whose name is being written. */
class Statement {
  constructor(
    private readonly text: string,
    private readonly tokens: readonly SqlToken[],
    private readonly cursor: number,
  ) {}

  tables(): TableRef[] {
    const found: TableRef[] = [];
    for (let at = 0; at < this.tokens.length && found.length < MAX_TABLES; at += 1) {
      if (this.isBeforeTable(at)) at = this.readTables(at + 1, found) - 1;
    }
    const own = this.queryNames();
    return found.filter(({ path: [first = '', second] }) => second !== undefined || !own.has(first.toLowerCase()));
  }

  private isBeforeTable(at: number): boolean {
    const word = this.word(at);
    return BEFORE_TABLE.has(word) || (word === 'using' && this.word(0) === 'merge');
  }

  /** Reads tables with commas between them. Returns the index of the token behind them. */
  private readTables(from: number, found: TableRef[]): number {
    for (let at = from; ; at += 1) {
      const path: string[] = [];
      const begin = at;
      for (let name = this.name(at); name !== null; name = this.name(at)) {
        path.push(name);
        at += 1;
        if (!isDot(this.text, this.tokens[at])) break;
        at += 1;
      }
      if (path.length === 0) return at;
      const isWritten = this.has(begin, at);
      if (this.word(at) === 'as') at += 1;
      const alias = this.name(at);
      if (alias !== null) at += 1;
      if (!isWritten) found.push({ path, alias });
      if (this.character(at) !== ',') return at;
    }
  }

  /** True if the cursor is in the tokens or at their end, so that they are not yet a whole name. */
  private has(first: number, end: number): boolean {
    const from = this.tokens[first]?.from ?? 0;
    const to = this.tokens[end - 1]?.to ?? 0;
    return from < this.cursor && this.cursor <= to;
  }

  /** The queries that WITH names are no tables of a catalog. */
  private queryNames(): Set<string> {
    const names = new Set<string>();
    if (this.word(0) !== 'with') return names;
    for (let at = 1; at < this.tokens.length; at += 1) {
      const isQuery = this.word(at + 1) === 'as' && this.character(at + 2) === '(';
      const name = isQuery ? this.name(at) : null;
      if (name !== null) names.add(name.toLowerCase());
    }
    return names;
  }

  private name(at: number): string | null {
    return NO_NAME.has(this.word(at)) ? null : nameOf(this.text, this.tokens[at]);
  }

  private word(at: number): string {
    return wordOf(this.text, this.tokens[at]);
  }

  private character(at: number): string {
    return this.text[this.tokens[at]?.from ?? this.text.length] ?? '';
  }
}

function isDot(text: string, token: SqlToken | undefined): boolean {
  return token !== undefined && token.kind === 'other' && text[token.from] === '.';
}

/** Returns a word in lower case; an empty text for any other token. */
function wordOf(text: string, token: SqlToken | undefined): string {
  return token?.kind === 'word' ? text.slice(token.from, token.to).toLowerCase() : '';
}

/** Returns the name that a token is, without its quotes; null if it is none. */
function nameOf(text: string, token: SqlToken | undefined): string | null {
  if (token?.kind === 'quoted') return text.slice(token.from + 1, token.to - 1).replaceAll('``', '`');
  const word = token?.kind === 'word' ? text.slice(token.from, token.to) : '';
  return word === '' || /^\d+$/.test(word) ? null : word;
}
