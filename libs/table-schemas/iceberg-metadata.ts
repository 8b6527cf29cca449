import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { atomicType, type DataType, MAX_FIELDS, MAX_NESTING } from './data-type';
import { isObject, type Json, type JsonObject, parseJson, type SchemaColumn, textOf } from './schema-json';
import { MAX_PARTITIONINGS, type PartitionTransform, plainColumn } from './table-columns';
import type { TableFiles } from './table-files';
import { excerpt, TableSchemaError } from './table-schema-error';

/** Limit of a metadata file, uncompressed: room for some ten thousand snapshots, which take up most of it. */
const MAX_METADATA_BYTES = 2 ** 24;

const gunzipAsync = promisify(gunzip);

/** The part of an Iceberg table's metadata that describes its schema. */
export interface IcebergTable {
  columns: SchemaColumn[];
  partitioning: PartitionTransform[];
  location: string | null;
  /** Includes `format-version`. */
  properties: Record<string, string>;
}

/** Reads the metadata file of an Iceberg table, gzipped or not. Throws `TableSchemaError`, and the errors of `files`. */
export async function readIcebergTable(uri: string, files: TableFiles, signal: AbortSignal): Promise<IcebergTable> {
  const bytes = await unpacked(await files.read(uri, MAX_METADATA_BYTES, signal));
  const metadata = parseJson(bytes, `The metadata file ${excerpt(uri)}`);
  return icebergTable(metadata);
}

async function unpacked(bytes: Buffer): Promise<Buffer> {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  try {
    return await gunzipAsync(bytes, { maxOutputLength: MAX_METADATA_BYTES });
  } catch (error) {
    const isLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    const problem = isLarge ? 'is too large to be read' : 'is not a valid gzip file';
    const message = `The metadata file of the Iceberg table ${problem}.`;
    throw new TableSchemaError(isLarge ? 'too-large' : 'malformed', message, { cause: error });
  }
}

function icebergTable(metadata: Json): IcebergTable {
  if (!isObject(metadata)) return fail('the JSON object');
  const version = metadata['format-version'];
  if (typeof version !== 'number') return fail('format-version');
  if (version > 3)
    throw new TableSchemaError('unsupported', `Version ${version} of the Iceberg format is not supported.`);
  const reader = new IcebergSchema();
  const columns = reader.columns(schemaOf(metadata));
  const own = Object.entries(isObject(metadata['properties']) ? metadata['properties'] : {});
  const properties = own.filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return {
    columns,
    partitioning: partitioning(fieldsOfSpec(metadata), reader.paths),
    location: textOf(metadata['location']),
    properties: { ...Object.fromEntries(properties), 'format-version': String(version) },
  };
}

/** A table of format version 1 may have only a single schema, `schema`. */
function schemaOf(metadata: JsonObject): JsonObject {
  const schemas = metadata['schemas'];
  const id = metadata['current-schema-id'];
  if (!Array.isArray(schemas)) return isObject(metadata['schema']) ? metadata['schema'] : fail('schema');
  const current = schemas.find((schema) => isObject(schema) && schema['schema-id'] === id);
  return isObject(current) ? current : fail('current-schema-id');
}

function fieldsOfSpec(metadata: JsonObject): Json[] {
  const specs = metadata['partition-specs'];
  const id = metadata['default-spec-id'];
  const spec = Array.isArray(specs) && specs.find((candidate) => isObject(candidate) && candidate['spec-id'] === id);
  const fields = isObject(spec) ? spec['fields'] : metadata['partition-spec'];
  if (!Array.isArray(fields)) return fail('default-spec-id');
  if (fields.length > MAX_PARTITIONINGS)
    throw new TableSchemaError('too-large', 'The Iceberg table has too many partition fields.');
  return fields;
}

/** Spark's names of Iceberg transforms that differ. */
const TRANSFORMS: Record<string, string> = { year: 'years', month: 'months', day: 'days', hour: 'hours' };

/** Keeps unknown transforms: the columns of such a table are known. */
function partitioning(fields: Json[], paths: ReadonlyMap<number, string[]>): PartitionTransform[] {
  return fields.flatMap((field) => {
    if (!isObject(field)) return fail('partition-specs');
    const text = textOf(field['transform']) ?? fail('transform');
    // A field that was dropped from the partitioning remains as `void`.
    if (text === 'void') return [];
    const columns = sourcesOf(field).map((id) => (typeof id === 'number' ? paths.get(id) : null) ?? fail('source-id'));
    const [, name = text, argument] = /^(\w+)\[(\d{1,9})\]$/.exec(text) ?? [];
    const transform = Object.hasOwn(TRANSFORMS, name) ? TRANSFORMS[name]! : name;
    return { transform, columns, argument: argument === undefined ? null : Number(argument) };
  });
}

/** Since format version 3, a field may have several source columns. */
function sourcesOf(field: JsonObject): (Json | undefined)[] {
  const sources = field['source-ids'];
  if (!Array.isArray(sources)) return [field['source-id']];
  if (sources.length > MAX_PARTITIONINGS)
    throw new TableSchemaError('too-large', 'A partition field has too many columns.');
  return sources;
}

/** Spark's names of Iceberg types that differ, as in Iceberg's own reader for Spark. */
const TYPES: Record<string, string> = { timestamp: 'timestamp_ntz', timestamptz: 'timestamp', uuid: 'string' };

class IcebergSchema {
  /** Paths of fields by id, except fields within lists and maps. */
  readonly paths = new Map<number, string[]>();
  private fields = 0;

  columns(schema: JsonObject): SchemaColumn[] {
    return this.struct(schema, [], 0);
  }

  private struct(struct: JsonObject, path: string[] | null, depth: number): SchemaColumn[] {
    const fields = struct['fields'];
    if (!Array.isArray(fields)) return fail('fields');
    this.fields += fields.length;
    if (this.fields > MAX_FIELDS) throw new TableSchemaError('too-large', 'The schema has too many fields.');
    return fields.map((field) => {
      if (!isObject(field)) return fail('fields');
      const name = textOf(field['name']) ?? fail('name');
      const own = path && [...path, name];
      if (own && typeof field['id'] === 'number') this.paths.set(field['id'], own);
      const column = plainColumn(name, this.type(field['type'], own, depth + 1), textOf(field['doc']));
      return { ...column, nullable: field['required'] !== true };
    });
  }

  private type(json: Json | undefined, path: string[] | null, depth: number): DataType {
    if (depth > MAX_NESTING) throw new TableSchemaError('too-large', 'The schema is nested too deep.');
    if (typeof json === 'string') {
      if (/^fixed\[\d+\]$/.test(json)) return atomicType('binary');
      return atomicType(Object.hasOwn(TYPES, json) ? TYPES[json]! : json);
    }
    if (!isObject(json)) return fail('type');
    switch (textOf(json['type']) ?? '') {
      case 'struct':
        return { kind: 'struct', fields: this.struct(json, path, depth).map(withoutSql) };
      case 'list':
        return { kind: 'array', element: this.type(json['element'], null, depth + 1) };
      case 'map':
        return {
          kind: 'map',
          key: this.type(json['key'], null, depth + 1),
          value: this.type(json['value'], null, depth + 1),
        };
      default:
        return fail('type');
    }
  }
}

function withoutSql({ name, type, nullable, comment }: SchemaColumn) {
  return { name, type, nullable, comment };
}

function fail(field: string): never {
  throw new TableSchemaError(
    'malformed',
    `The metadata of the Iceberg table is malformed: ${field} is missing or invalid.`,
  );
}
