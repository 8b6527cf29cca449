import { literal, quotedName, shownName } from './sql-text';
import { TableSchemaError } from './table-schema-error';

/**
 * A type of Spark SQL, without the nullability of array elements and map values, which SQL cannot express. `atomic` holds
 * the text of a type that Spark knows; `foreign` the text of any other type, such as Hive's `uniontype`.
 */
export type DataType =
  | { kind: 'atomic'; text: string }
  | { kind: 'array'; element: DataType }
  | { kind: 'map'; key: DataType; value: DataType }
  | { kind: 'struct'; fields: StructField[] }
  | { kind: 'foreign'; text: string };

export interface StructField {
  name: string;
  type: DataType;
  nullable: boolean;
  comment: string | null;
}

/** Maximum nesting of a type; Spark itself fails at a few hundred levels. */
export const MAX_NESTING = 64;

/** Maximum number of fields of a table, including nested ones. */
export const MAX_FIELDS = 100_000;

const NAMES: Record<string, string> = {
  boolean: 'boolean',
  tinyint: 'tinyint',
  byte: 'tinyint',
  smallint: 'smallint',
  short: 'smallint',
  int: 'int',
  integer: 'int',
  bigint: 'bigint',
  long: 'bigint',
  float: 'float',
  real: 'float',
  double: 'double',
  'double precision': 'double',
  string: 'string',
  binary: 'binary',
  date: 'date',
  timestamp: 'timestamp',
  timestamp_ltz: 'timestamp',
  timestamp_ntz: 'timestamp_ntz',
  void: 'void',
  null: 'void',
  decimal: 'decimal(10,0)',
  dec: 'decimal(10,0)',
  numeric: 'decimal(10,0)',
  interval: 'interval',
  calendarinterval: 'interval',
};

const DECIMAL = /^(?:decimal|dec|numeric) ?\( ?(\d{1,2}) ?(?:, ?(\d{1,2}) ?)?\)$/;
const TEXT = /^(char|character|varchar) ?\( ?(\d{1,9}) ?\)$/;
const INTERVAL = /^interval (?:(?:year|month|day|hour|minute|second)(?: to (?:month|hour|minute|second))?)$/;

/** Returns the type with this name in Hive, Spark or Delta. */
export function atomicType(name: string): DataType {
  const text = name.trim().toLowerCase().replace(/\s+/g, ' ');
  const known = Object.hasOwn(NAMES, text) ? NAMES[text] : undefined;
  if (known !== undefined) return { kind: 'atomic', text: known };
  const decimal = DECIMAL.exec(text);
  if (decimal) return { kind: 'atomic', text: `decimal(${Number(decimal[1])},${Number(decimal[2] ?? 0)})` };
  const sized = TEXT.exec(text);
  if (sized) return { kind: 'atomic', text: `${sized[1] === 'varchar' ? 'varchar' : 'char'}(${Number(sized[2])})` };
  if (INTERVAL.test(text)) return { kind: 'atomic', text };
  return { kind: 'foreign', text: name.trim() };
}

/** Returns the readable text of a type, `struct<a:int,b:array<string>>`, without comments. */
export function typeText(type: DataType): string {
  switch (type.kind) {
    case 'atomic':
    case 'foreign':
      return type.text;
    case 'array':
      return `array<${typeText(type.element)}>`;
    case 'map':
      return `map<${typeText(type.key)},${typeText(type.value)}>`;
    case 'struct':
      return `struct<${type.fields.map((field) => `${shownName(field.name)}:${typeText(field.type)}`).join(',')}>`;
  }
}

/** Returns the name of a type without its parameters: `STRUCT`, `DECIMAL`, `INT`. */
export function typeName(type: DataType): string {
  if (type.kind !== 'atomic' && type.kind !== 'foreign') return type.kind.toUpperCase();
  return /^[^\s(<]*/.exec(type.text)![0].toUpperCase();
}

const UNITY_NAMES: Readonly<Record<string, string>> = {
  TINYINT: 'BYTE',
  SMALLINT: 'SHORT',
  BIGINT: 'LONG',
  // Unity has the length only in the text of the type.
  VARCHAR: 'STRING',
  VOID: 'NULL',
};

/** Returns Unity Catalog's name of the type: `LONG`, `SHORT`, `STRING`. */
export function unityTypeName(type: DataType): string {
  const name = typeName(type);
  return UNITY_NAMES[name] ?? name;
}

/** Returns the SQL of a type with everything that SQL can express. Throws `unsupported` for a type that Spark lacks. */
export function typeSql(type: DataType): string {
  switch (type.kind) {
    case 'atomic':
      return type.text;
    case 'array':
      return `array<${typeSql(type.element)}>`;
    case 'map':
      return `map<${typeSql(type.key)},${typeSql(type.value)}>`;
    case 'struct':
      return `struct<${type.fields.map(fieldSql).join(', ')}>`;
    case 'foreign':
      throw new TableSchemaError('unsupported', `Spark has no type ${type.text.slice(0, 200)}.`);
  }
}

function fieldSql({ name, type, nullable, comment }: StructField): string {
  return `${quotedName(name)}: ${typeSql(type)}${nullable ? '' : ' NOT NULL'}${commentSql(comment)}`;
}

/** Returns ` COMMENT '…'`, or an empty text without a comment. */
export function commentSql(comment: string | null): string {
  return comment === null || comment === '' ? '' : ` COMMENT ${literal(comment)}`;
}
