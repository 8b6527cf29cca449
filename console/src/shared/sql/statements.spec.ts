import { splitSql, statementAt, tokensOf } from './statements';

const textsOf = (text: string) => splitSql(text).map((part) => part.text);

describe('splitSql', () => {
  it.each([
    ['select 1', ['select 1']],
    [' ; select 1 ;; select 2 ; ', ['select 1', 'select 2']],
    ["select ';' ; select 'it''s;' ; x", ["select ';'", "select 'it''s;'", 'x']],
    ["select '\\';' ; y", ["select '\\';'", 'y']],
    ["select r'\\'; y", ["select r'\\'", 'y']],
    ["select bar'\\';' ; y", ["select bar'\\';'", 'y']],
    ['select "a;b", `c;``d` ; y', ['select "a;b", `c;``d`', 'y']],
    ['-- one; two\nselect 1 -- three; four\n; y', ['select 1 -- three; four', 'y']],
    ['-- goes on \\\n; this, too\nselect 1', ['select 1']],
    ['/* a /* b; */ c; */ select 1; y', ['select 1', 'y']],
    ['/*+ BROADCAST(a) */ select 1; y', ['/*+ BROADCAST(a) */ select 1', 'y']],
    ['-- nothing\n/* at all */', []],
    ["select 'open; y", ["select 'open; y"]],
  ])('splits %j', (text, expected) => {
    expect(textsOf(text)).toEqual(expected);
  });

  it('says where a statement begins, behind its comments', () => {
    const text = '-- first\nselect 1;\n/* second */ select 2';
    expect(splitSql(text).map(({ from }) => from)).toEqual([9, 32]);
  });
});

describe('statementAt', () => {
  it('finds the statement of the cursor', () => {
    const parts = splitSql('select 1; select 2');
    expect([0, 8, 10, 18].map((cursor) => statementAt(parts, cursor)?.text)).toEqual([
      'select 1',
      'select 1',
      'select 2',
      'select 2',
    ]);
    expect(statementAt([], 0)).toBeUndefined();
  });
});

describe('tokensOf', () => {
  it('finds words, quoted names, strings and comments', () => {
    const text = "select größe1, `a``b`.c from r'\\' -- end\n/* x; */";
    expect(tokensOf(text).map(({ kind, from, to }) => `${kind} ${text.slice(from, to)}`)).toEqual([
      'word select',
      'word größe1',
      'other ,',
      'quoted `a``b`',
      'other .',
      'word c',
      'word from',
      "string r'\\'",
      'comment -- end\n',
      'comment /* x; */',
    ]);
  });
});
