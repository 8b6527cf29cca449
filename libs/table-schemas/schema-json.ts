import { JsonError, parseUntrusted, type UntrustedBounds } from '../json/parse-json';
import { atomicType, type DataType, MAX_FIELDS, MAX_NESTING, type StructField } from './data-type';
import { excerpt, TableSchemaError } from './table-schema-error';
import { parseTypeText } from './type-text';

/** Maximum length of the JSON of one schema: some fifty thousand columns. */
export const MAX_SCHEMA_JSON_LENGTH = 2 ** 23;

/** Leaves room for snapshots and statistics. One level of a type takes up to four levels of JSON. */
const TABLE_JSON: UntrustedBounds = { bytes: 2 ** 25, values: 1_000_000, levels: 10 + 4 * MAX_NESTING };

/** A column of Spark's schema JSON, with its SQL expressions. */
export interface SchemaColumn extends StructField {
  /** SQL of the column's default value. */
  defaultSql: string | null;
  /** SQL from which Delta generates the column. */
  generatedSql: string | null;
}

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type JsonObject = Record<string, Json | undefined>;

/** @param subject of messages: `The schema of the table` */
export function parseJson(json: string | Buffer, subject: string): Json {
  try {
    return parseUntrusted(json, TABLE_JSON) as Json;
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    if (error.fault === 'syntax') throw new TableSchemaError('malformed', `${subject} is not JSON.`, { cause: error });
    throw new TableSchemaError('too-large', `${subject} is too large to be read.`, { cause: error });
  }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function textOf(value: Json | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

/** Parses a schema in Spark's JSON, which Delta uses, too. Throws `malformed` or `too-large`. */
export function parseSchemaJson(text: string): SchemaColumn[] {
  if (text.length > MAX_SCHEMA_JSON_LENGTH)
    throw new TableSchemaError('too-large', 'The schema of the table is too large.');
  return columnsOfSchema(parseJson(text, 'The schema of the table'));
}

/** Parses a column, or only its type, in Spark's JSON. Throws `malformed` or `too-large`. @param name of the column */
export function parseColumnJson(text: string, name: string): SchemaColumn {
  if (text.length > MAX_SCHEMA_JSON_LENGTH)
    throw new TableSchemaError('too-large', 'The type of a column is too large.');
  const json = parseJson(text, 'The type of a column');
  const isColumn = typeof json === 'object' && json !== null && !Array.isArray(json) && 'name' in json;
  const field: Json = isColumn ? { ...json, name } : { name, type: json };
  const [column] = columnsOfSchema({ fields: [field] });
  return column ?? fail(json);
}

function columnsOfSchema(schema: Json): SchemaColumn[] {
  return new SchemaReader().fieldsOf(schema, 0).map(({ field, metadata }) => ({
    ...field,
    type: rawType(metadata) ?? field.type,
    defaultSql: textOf(metadata['CURRENT_DEFAULT']),
    generatedSql: textOf(metadata['delta.generationExpression']),
  }));
}

/** Returns the original type of a column with `char(n)` or `varchar(n)`, for which the schema itself has `string`. */
function rawType(metadata: JsonObject): DataType | null {
  const text = textOf(metadata['__CHAR_VARCHAR_TYPE_STRING']);
  return text === null ? null : parseTypeText(text);
}

class SchemaReader {
  private fields = 0;

  fieldsOf(json: Json | undefined, depth: number): { field: StructField; metadata: JsonObject }[] {
    if (!isObject(json) || !Array.isArray(json['fields'])) return fail(json);
    this.fields += json['fields'].length;
    if (this.fields > MAX_FIELDS) throw new TableSchemaError('too-large', 'The schema has too many fields.');
    return json['fields'].map((field) => {
      if (!isObject(field) || typeof field['name'] !== 'string') return fail(field);
      const metadata = isObject(field['metadata']) ? field['metadata'] : {};
      const type = this.type(field['type'], depth + 1);
      const nullable = field['nullable'] !== false;
      return { field: { name: field['name'], type, nullable, comment: textOf(metadata['comment']) }, metadata };
    });
  }

  private type(json: Json | undefined, depth: number): DataType {
    if (depth > MAX_NESTING) throw new TableSchemaError('too-large', 'The schema is nested too deep.');
    if (typeof json === 'string') return atomicType(json);
    if (!isObject(json)) return fail(json);
    switch (textOf(json['type']) ?? '') {
      case 'struct':
        return { kind: 'struct', fields: this.fieldsOf(json, depth).map(({ field }) => field) };
      case 'array':
        return { kind: 'array', element: this.type(json['elementType'], depth + 1) };
      case 'map':
        return {
          kind: 'map',
          key: this.type(json['keyType'], depth + 1),
          value: this.type(json['valueType'], depth + 1),
        };
      case 'udt':
        return this.type(json['sqlType'], depth + 1);
      default:
        return fail(json);
    }
  }
}

function fail(json: Json | undefined): never {
  const text = typeof json === 'string' ? json : JSON.stringify(json)?.slice(0, 1000);
  throw new TableSchemaError(
    'malformed',
    `The schema of the table is malformed: ${excerpt(text ?? 'nothing')} is not a valid field or type.`,
  );
}
