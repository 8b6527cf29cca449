// Results of HiveServer2, which come in columns, as rows.
import type { Column, SqlValue } from './table.ts';
import { type Struct, structOf, textOf, type Value } from './thrift.ts';

/** Names of TTypeId, by number. Arrays, maps and structs arrive as strings. */
const TYPES = [
  ...[
    'BOOLEAN',
    'TINYINT',
    'SMALLINT',
    'INT',
    'BIGINT',
    'FLOAT',
    'DOUBLE',
    'STRING',
    'TIMESTAMP',
    'BINARY',
    'ARRAY',
    'MAP',
  ],
  ...['STRUCT', 'UNIONTYPE', 'USER_DEFINED', 'DECIMAL', 'NULL', 'DATE', 'VARCHAR', 'CHAR'],
  ...['INTERVAL_YEAR_MONTH', 'INTERVAL_DAY_TIME'],
];

/** Returns the columns that the metadata of a result describe. */
export function columnsOf(metadata: Struct): Column[] {
  return listOf(structOf(metadata.get(2)).get(1)).map((column) => columnOf(structOf(column)));
}

/** Returns the rows of a fetch. */
export function rowsOf(columns: readonly Column[], fetched: Struct): SqlValue[][] {
  const values = listOf(structOf(fetched.get(3)).get(3));
  const lists = columns.map(({ type }, index) => columnValues(values[index], type === 'BINARY'));
  return Array.from(lists[0] ?? [], (_, index) => lists.map((list) => list[index] ?? null));
}

/** A type is a list of entries, of which the first is a union: the one of a simple type has its id. */
function columnOf(column: Struct): Column {
  const [entry] = listOf(structOf(column.get(2)).get(1));
  const id = Number(structOf(structOf(entry).get(1)).get(1));
  return { name: textOf(column.get(1)), type: TYPES[id] ?? 'STRING' };
}

/** A column is a union of lists by type, each with the bits of its nulls. */
function columnValues(column: Value | undefined, isBinary: boolean): SqlValue[] {
  const [fields = new Map<number, Value>()] = [...structOf(column).values()].map(structOf);
  const nulls = fields.get(2);
  const isNull = (index: number) =>
    nulls instanceof Uint8Array && (((nulls[index >> 3] ?? 0) >> (index & 7)) & 1) === 1;
  return listOf(fields.get(1)).map((item, index) => (isNull(index) ? null : scalar(item, isBinary)));
}

function scalar(value: Value, isBinary: boolean): SqlValue {
  if (value instanceof Uint8Array) return isBinary ? value : textOf(value);
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  return typeof value === 'number' || typeof value === 'boolean' ? value : null;
}

function listOf(value: Value | undefined): Value[] {
  return Array.isArray(value) ? (value as Value[]) : [];
}
