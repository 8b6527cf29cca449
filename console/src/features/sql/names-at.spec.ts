import { nameAt } from './names-at';

/** The cursor is at the bar. */
function at(marked: string) {
  const cursor = marked.indexOf('|');
  return nameAt(marked.replace('|', ''), cursor);
}

const pathAt = (marked: string) => at(marked)?.path;
const tablesAt = (marked: string) =>
  at(marked)?.tables.map(({ path, alias }) => path.join('.') + (alias === null ? '' : ` ${alias}`));

describe('nameAt', () => {
  it.each([
    ['select |', []],
    ['select * from sales.|', ['sales']],
    ['select * from main.sales.ord|ers', ['main', 'sales']],
    ['select * from `a.b`.`c``d`.|', ['a.b', 'c`d']],
    ['select * from `my schema`.`ta|', ['my schema']],
    ['select 1; select * from sales.|; select 2', ['sales']],
    ['-- sales.\n|', []],
    ['/*+ BROADCAST(o) */ select o.|', ['o']],
    ['select größe.|', ['größe']],
  ])('finds the names before the cursor in %j', (marked, path) => {
    expect(pathAt(marked)).toEqual(path);
  });

  it.each([
    "select 'sales.|'",
    "select 'sales.|",
    'select "sales.|"',
    '-- sales.|',
    '/* sales.| */',
    'select 1.|',
    'select 12|',
    'select f(x).|',
    'select `a`|',
  ])('finds no name in %j', (marked) => {
    expect(at(marked)).toBeNull();
  });

  it.each([
    ['select o.| from sales.orders o', ['sales.orders o']],
    ['select o.| from sales.orders as o, main.crm.people where true', ['sales.orders o', 'main.crm.people']],
    ['select | from a left join b on a.x = b.y', ['a', 'b']],
    ['select | from `a b`.`c``d` `the alias` order by 1', ['a b.c`d the alias']],
    ['with x as (select * from t) select | from x join y', ['t', 'y']],
    ['select 1 from one; select | from two; select 1 from three', ['two']],
    ['merge into sales.orders t using sales.changes s on t.|', ['sales.orders t', 'sales.changes s']],
    ['update sales.orders set |', ['sales.orders']],
    ['select | from (select a from inner_one) q', ['inner_one']],
    ["select | from 'text' -- from comment", []],
    ['select * from sales.| where a', []],
    ['select * from one a join tw| where a', ['one a']],
  ])('finds the tables of the statement in %j', (marked, tables) => {
    expect(tablesAt(marked)).toEqual(tables);
  });

  it('knows where a table is expected', () => {
    expect(at('select * from sa|')?.isTable).toBe(true);
    expect(at('select * from t join sales.|')?.isTable).toBe(true);
    expect(at('select sa| from t')?.isTable).toBe(false);
  });

  it('does not read a text that would take long at each key', () => {
    expect(nameAt(`${' '.repeat(200_000)}select a.`, 200_009)).toBeNull();
  });
});
