import { MAX_FIELDS } from './data-type';
import { MAX_SCHEMA_JSON_LENGTH, parseSchemaJson, type SchemaColumn } from './schema-json';
import { TableSchemaError } from './table-schema-error';

const PREFIX = 'spark.sql.sources';

type Properties = Readonly<Record<string, string>>;

export interface Bucketing {
  columns: string[];
  /** Ascending. */
  sortColumns: string[];
  buckets: number;
}

/** Reads what Spark stores about a table in its metastore properties. */
export class SparkProperties {
  constructor(private readonly properties: Properties) {}

  /** `parquet`, `delta`, …; null for a table that is not a Spark data source. */
  get provider(): string | null {
    return this.get(`${PREFIX}.provider`)?.toLowerCase() ?? null;
  }

  /** Includes partition columns; null if Spark stored no schema. Throws `missing`, `malformed` or `too-large`. */
  schema(): SchemaColumn[] | null {
    const text = this.largeValue(`${PREFIX}.schema`);
    return text === null ? null : parseSchemaJson(text);
  }

  partitionColumns(): string[] {
    return this.list('numPartCols', 'partCol');
  }

  bucketing(): Bucketing | null {
    const buckets = this.count(`${PREFIX}.schema.numBuckets`);
    if (buckets === null) return null;
    const columns = this.list('numBucketCols', 'bucketCol');
    return { columns, sortColumns: this.list('numSortCols', 'sortCol'), buckets };
  }

  /** Joins the parts into which Spark cuts a value that is too long for metastores. */
  private largeValue(key: string): string | null {
    const whole = this.get(key);
    if (whole !== null) return whole;
    const parts = this.count(`${key}.numParts`);
    if (parts === null) {
      if (this.get(`${key}.part.0`) === null) return null;
      throw new TableSchemaError(
        'missing',
        `The table has parts of the property ${key}, but ${key}.numParts is missing.`,
      );
    }
    let length = 0;
    const texts: string[] = [];
    for (let at = 0; at < parts; at += 1) {
      const part = this.get(`${key}.part.${at}`);
      if (part === null)
        throw new TableSchemaError('missing', `Part ${at} of the ${parts} parts of the property ${key} is missing.`);
      length += part.length;
      if (length > MAX_SCHEMA_JSON_LENGTH)
        throw new TableSchemaError('too-large', 'The schema of the table is too large.');
      texts.push(part);
    }
    return texts.join('');
  }

  private list(countKey: string, itemKey: string): string[] {
    const count = this.count(`${PREFIX}.schema.${countKey}`) ?? 0;
    return Array.from({ length: count }, (_, at) => {
      const key = `${PREFIX}.schema.${itemKey}.${at}`;
      const item = this.get(key);
      if (item === null)
        throw new TableSchemaError('missing', `The property ${key} of the table is missing; ${count} are expected.`);
      return item;
    });
  }

  private count(key: string): number | null {
    const text = this.get(key);
    if (text === null) return null;
    const count = /^\d{1,9}$/.test(text) ? Number(text) : -1;
    if (count < 0 || count > MAX_FIELDS)
      throw new TableSchemaError('malformed', `The property ${key} of the table is not a valid count.`);
    return count;
  }

  private get(key: string): string | null {
    return Object.hasOwn(this.properties, key) ? (this.properties[key] ?? null) : null;
  }
}
