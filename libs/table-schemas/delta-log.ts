import { readUntrusted, SHORT_JSON } from '../json/parse-json';
import { readDeltaCheckpoint } from './delta-checkpoint';
import {
  isObject,
  type JsonObject,
  MAX_SCHEMA_JSON_LENGTH,
  parseJson,
  parseSchemaJson,
  type SchemaColumn,
  textOf,
} from './schema-json';
import { MAX_PARTITIONINGS } from './table-columns';
import type { TableFiles } from './table-files';
import { excerpt, TableSchemaError } from './table-schema-error';

/** The content of a Delta table's newest `metaData` action. */
export interface DeltaTable {
  columns: SchemaColumn[];
  partitionColumns: string[];
  configuration: Record<string, string>;
  description: string | null;
}

/** Maximum number of files in a log; Delta removes files older than thirty days by default. */
const MAX_FILES = 100_000;
/** Maximum number of commits after a checkpoint; Delta writes one every ten commits by default. */
const MAX_COMMITS = 1000;
const MAX_HINT_BYTES = 2 ** 20;
const MAX_COMMIT_BYTES = 2 ** 25;
/** Limit of all bytes read from one log. */
const MAX_BYTES = 2 ** 28;
const PARALLEL_READS = 4;

const COMMIT = /^(\d{20})\.json$/;
/** A single file, numbered parts, or a file of the second version, with a UUID. */
const CHECKPOINT =
  /^(\d{20})\.checkpoint(?:\.(\d{10})\.(\d{10}))?\.parquet$|^(\d{20})\.checkpoint\.[0-9A-Za-z-]{1,64}\.(?:parquet|json)$/;

interface Checkpoint {
  version: number;
  files: string[];
}

/**
 * Reads the schema of a Delta table from its log: from the newest commits or, if they do not contain it, from a
 * checkpoint. Throws `TableSchemaError`, and the errors of `files`.
 */
export async function readDeltaTable(location: string, files: TableFiles, signal: AbortSignal): Promise<DeltaTable> {
  const action = await new DeltaLog(`${location.replace(/\/+$/, '')}/_delta_log`, files, signal).metadata();
  return deltaTable(action);
}

function deltaTable(action: JsonObject): DeltaTable {
  const { schemaString, partitionColumns, configuration, description } = action;
  if (typeof schemaString !== 'string') throw malformed('has no schema');
  const partitions = Array.isArray(partitionColumns) ? partitionColumns : [];
  if (partitions.length > MAX_PARTITIONINGS) throw malformed('has too many partition columns');
  const settings = Object.entries(isObject(configuration) ? configuration : {});
  return {
    columns: parseSchemaJson(schemaString),
    partitionColumns: partitions.map((name) => textOf(name) ?? fail()),
    configuration: Object.fromEntries(
      settings.filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
    ),
    description: textOf(description),
  };
}

function fail(): never {
  throw malformed('has a partition column without a name');
}

function malformed(problem: string): TableSchemaError {
  return new TableSchemaError('malformed', `The log of the Delta table ${problem}.`);
}

class DeltaLog {
  private bytes = 0;

  constructor(
    private readonly directory: string,
    private readonly files: TableFiles,
    private readonly signal: AbortSignal,
  ) {}

  async metadata(): Promise<JsonObject> {
    return (await this.metadataByHint()) ?? (await this.metadataByList());
  }

  /** Listing a long log is slow, so `_last_checkpoint` leads to its end; returns null if that is absent, old or wrong. */
  private async metadataByHint(): Promise<JsonObject | null> {
    const checkpoint = await this.lastCheckpoint();
    if (!checkpoint) return null;
    let newest: JsonObject | null = null;
    for (let after = 1; after <= MAX_COMMITS; after += PARALLEL_READS) {
      const versions = Array.from({ length: PARALLEL_READS }, (_, at) => checkpoint.version + after + at);
      const commits = await Promise.all(versions.map((version) => this.commit(version)));
      const end = commits.findIndex((commit) => commit === 'absent');
      const found = commits.slice(0, end === -1 ? PARALLEL_READS : end).filter(isObject);
      newest = found.at(-1) ?? newest;
      if (end !== -1) return newest ?? unlessMissing(this.metadataInCheckpoint(checkpoint));
    }
    return null;
  }

  private async lastCheckpoint(): Promise<Checkpoint | null> {
    const content = await unlessMissing(this.read('_last_checkpoint', MAX_HINT_BYTES));
    if (!content) return null;
    const hint = readUntrusted(content, { ...SHORT_JSON, bytes: MAX_HINT_BYTES });
    if (!isObject(hint) || !isVersion(hint['version'])) return null;
    return hintedCheckpoint(hint['version'], hint);
  }

  private async metadataByList(): Promise<JsonObject> {
    const listed = await this.files.list(this.directory, { maxFiles: MAX_FILES }, this.signal);
    const names = listed.map(({ name }) => name);
    const checkpoint = newestCheckpoint(names);
    const versions = names
      .flatMap((name) => COMMIT.exec(name)?.[1] ?? [])
      .map(Number)
      .filter((version) => version > (checkpoint?.version ?? -1))
      .sort((a, b) => b - a);
    if (versions.length > MAX_COMMITS) {
      throw new TableSchemaError(
        'too-large',
        `The Delta table has ${versions.length} commits without a checkpoint; at most ${MAX_COMMITS} are read.`,
      );
    }
    const oldest = (checkpoint?.version ?? -1) + 1;
    if (versions.length > 0 && versions[0]! - versions.length + 1 !== oldest) throw malformed('lacks commits');
    for (let at = 0; at < versions.length; at += PARALLEL_READS) {
      const commits = await Promise.all(versions.slice(at, at + PARALLEL_READS).map((version) => this.commit(version)));
      const newest = commits.find(isObject);
      if (newest) return newest;
    }
    if (checkpoint) return this.metadataInCheckpoint(checkpoint);
    throw new TableSchemaError('missing', `There is no Delta table in ${excerpt(this.directory)}.`);
  }

  private async commit(version: number): Promise<JsonObject | 'absent' | null> {
    const content = await unlessMissing(this.read(`${numbered(version)}.json`, MAX_COMMIT_BYTES));
    return content ? metadataIn(content) : 'absent';
  }

  private async metadataInCheckpoint({ files }: Checkpoint): Promise<JsonObject> {
    for (const name of files) {
      const action = name.endsWith('.json')
        ? metadataIn(await this.read(name, MAX_COMMIT_BYTES))
        : await readDeltaCheckpoint(`${this.directory}/${name}`, this.files, this.signal);
      if (action) return action;
    }
    throw malformed('has no schema in its checkpoint');
  }

  private async read(name: string, maxBytes: number): Promise<Buffer> {
    const content = await this.files.read(`${this.directory}/${name}`, maxBytes, this.signal);
    this.bytes += content.length;
    if (this.bytes <= MAX_BYTES) return content;
    throw new TableSchemaError('too-large', 'The log of the Delta table is too large to be read.');
  }
}

/** Returns null if the call fails with `missing`. */
async function unlessMissing<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof TableSchemaError && error.fault === 'missing') return null;
    throw error;
  }
}

function isVersion(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) < Number.MAX_SAFE_INTEGER - 1e6;
}

function numbered(version: number): string {
  return String(version).padStart(20, '0');
}

/** Returns null if the hint points to no file of the log. */
function hintedCheckpoint(version: number, hint: JsonObject): Checkpoint | null {
  const start = `${numbered(version)}.checkpoint`;
  const second = hint['v2Checkpoint'];
  if (isObject(second)) {
    const path = second['path'];
    return typeof path === 'string' && CHECKPOINT.test(path) ? { version, files: [path] } : null;
  }
  const { parts } = hint;
  if (parts === undefined || parts === null) return { version, files: [`${start}.parquet`] };
  if (typeof parts !== 'number' || !Number.isInteger(parts) || parts < 1 || parts > MAX_COMMITS) return null;
  return { version, files: partNames(start, parts) };
}

function partNames(start: string, parts: number): string[] {
  const tenDigits = (count: number) => String(count).padStart(10, '0');
  return Array.from({ length: parts }, (_, at) => `${start}.${tenDigits(at + 1)}.${tenDigits(parts)}.parquet`);
}

/** Returns the newest checkpoint that has all its parts. */
function newestCheckpoint(names: readonly string[]): Checkpoint | null {
  const present = new Set(names);
  let newest: Checkpoint | null = null;
  for (const name of names) {
    const [, first, part, parts, second] = CHECKPOINT.exec(name) ?? [];
    const version = Number(first ?? second ?? -1);
    if (version <= (newest?.version ?? -1) || (part !== undefined && Number(part) !== 1)) continue;
    const count = Number(parts ?? 1);
    if (count > MAX_COMMITS) continue;
    const files = part === undefined ? [name] : partNames(`${numbered(version)}.checkpoint`, count);
    if (files.every((file) => present.has(file))) newest = { version, files };
  }
  return newest;
}

const NEWLINE = 0x0a;

/** Returns the last `metaData` action of a commit, or null. Skips other lines, which are many and long. */
function metadataIn(content: Buffer): JsonObject | null {
  let found: JsonObject | null = null;
  for (let at = content.indexOf('"metaData"'); at !== -1;) {
    const start = content.lastIndexOf(NEWLINE, at) + 1;
    const end = content.indexOf(NEWLINE, at);
    const line = content.subarray(start, end === -1 ? content.length : end);
    found = metadataOf(line) ?? found;
    at = end === -1 ? -1 : content.indexOf('"metaData"', end);
  }
  return found;
}

function metadataOf(line: Buffer): JsonObject | null {
  // Escaped quotes may double the bytes of a schema in a JSON string.
  if (line.length > 2 * MAX_SCHEMA_JSON_LENGTH)
    throw new TableSchemaError('too-large', 'A line of the Delta log is too long.');
  const action = parseJson(line, 'A line of the Delta log');
  const metadata = isObject(action) ? action['metaData'] : null;
  return isObject(metadata) ? metadata : null;
}
