import { MetastoreError } from './metastore-client';

/** No metastore allows longer names. */
const MAX_NAME_LENGTH = 255;
/** Limit of a text in a list, such as an owner's name or a comment. */
const MAX_TEXT_LENGTH = 64 * 1024;
/** Limit of a view's text, a column's type or a property, in which Spark stores schemas. */
const MAX_CONTENT_LENGTH = 4 * 1024 * 1024;

type Json = Readonly<Record<string, unknown>>;

/**
 * Reads the fields of an object in a metastore's response, which is not trusted: a field of another type or size than the
 * API describes throws a {@link MetastoreError}. Absent, null and empty are the same.
 */
export class ResponseFields {
  private readonly fields: Json;

  /** @param kind the kind of object, for messages: `table` */
  constructor(
    value: unknown,
    private readonly kind: string,
  ) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new MetastoreError('failed', `The metastore returned an invalid response: a ${kind} is not an object.`);
    }
    this.fields = value as Json;
  }

  name(field: string): string {
    const name = this.boundedText(field, MAX_NAME_LENGTH);
    if (name === null) throw this.unusable(field, 'is missing');
    return name;
  }

  text(field: string, maxLength = MAX_TEXT_LENGTH): string | null {
    return this.boundedText(field, maxLength);
  }

  content(field: string): string | null {
    return this.boundedText(field, MAX_CONTENT_LENGTH);
  }

  integer(field: string): number | null {
    const value = this.value(field);
    if (value === null) return null;
    if (!Number.isSafeInteger(value)) throw this.unusable(field, 'is not an integer');
    return value as number;
  }

  /** Returns a time in epoch milliseconds. */
  time(field: string): number | null {
    const value = this.value(field);
    if (!(value instanceof Date)) return this.integer(field);
    const time = value.getTime();
    if (Number.isNaN(time)) throw this.unusable(field, 'is not a time');
    return time;
  }

  flag(field: string, otherwise = false): boolean {
    const value = this.value(field) ?? otherwise;
    if (typeof value !== 'boolean') throw this.unusable(field, 'is neither true nor false');
    return value;
  }

  /** Returns the entries of a list, each converted by `read`. */
  list<T>(field: string, kind: string, read: (entry: ResponseFields) => T): T[] {
    return this.entries(field).map((entry) => read(new ResponseFields(entry, kind)));
  }

  names(field: string): string[] {
    return this.entries(field).map((name) => new ResponseFields({ name }, field).name('name'));
  }

  /** Returns key-value pairs. */
  properties(field: string): Record<string, string> {
    const pairs = this.part(field);
    // Object.fromEntries, not assignment: a key may be `__proto__`.
    return Object.fromEntries(Object.keys(pairs.fields).map((key) => [key, pairs.content(key) ?? '']));
  }

  /** Returns a nested object; if it is absent, one without fields. */
  part(field: string): ResponseFields {
    return new ResponseFields(this.value(field) ?? {}, `${this.kind}'s ${field}`);
  }

  private entries(field: string): unknown[] {
    const value = this.value(field) ?? [];
    if (!Array.isArray(value)) throw this.unusable(field, 'is not a list');
    return value;
  }

  private boundedText(field: string, maxLength: number): string | null {
    const value = this.value(field);
    if (value === null || value === '') return null;
    if (typeof value !== 'string') throw this.unusable(field, 'is not a text');
    if (value.length > maxLength) {
      const message = `The metastore returned a ${this.kind} whose ${printableKey(field)} is longer than ${maxLength} characters.`;
      throw new MetastoreError('too-large', message);
    }
    return value;
  }

  private value(field: string): unknown {
    return Object.hasOwn(this.fields, field) ? (this.fields[field] ?? null) : null;
  }

  private unusable(field: string, problem: string): MetastoreError {
    return new MetastoreError(
      'failed',
      `The metastore returned a ${this.kind} whose ${printableKey(field)} ${problem}.`,
    );
  }
}

/** Shortens a key of a property, which comes from the metastore. */
function printableKey(key: string): string {
  return key.length > 100 ? `${key.slice(0, 100)}…` : key;
}
