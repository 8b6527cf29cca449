import { MetastoreError } from './metastore-client';

/** Characters; no metastore admits longer names. */
const MAX_NAME_LENGTH = 255;
/** Characters of a text in a list, such as an owner's name or a comment. */
const MAX_TEXT_LENGTH = 64 * 1024;
/** Characters of a view, of the type of a column or of a property: Spark keeps schemas there. */
const MAX_CONTENT_BYTES = 4 * 1024 * 1024;

type Json = Readonly<Record<string, unknown>>;

/**
 * The fields of something that a metastore told, which may be a lie: one that is not of the type or the size that the
 * API describes ends the call with a {@link MetastoreError}. Absent, null and empty are the same.
 */
export class AnswerFields {
  private readonly fields: Json;

  /** @param kind what this is, for messages: `table` */
  constructor(
    value: unknown,
    private readonly kind: string,
  ) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new MetastoreError('failed', `The metastore answers with a ${kind} that is none.`);
    }
    this.fields = value as Json;
  }

  name(field: string): string {
    const name = this.texts(field, MAX_NAME_LENGTH);
    if (name === null) throw this.unusable(field, 'is missing');
    return name;
  }

  text(field: string, longest = MAX_TEXT_LENGTH): string | null {
    return this.texts(field, longest);
  }

  content(field: string): string | null {
    return this.texts(field, MAX_CONTENT_BYTES);
  }

  integer(field: string): number | null {
    const value = this.value(field);
    if (value === null) return null;
    if (!Number.isSafeInteger(value)) throw this.unusable(field, 'is not an integer');
    return value as number;
  }

  /** A time as epoch milliseconds. */
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

  /** The entries of a list, each made by `read`. */
  list<T>(field: string, kind: string, read: (entry: AnswerFields) => T): T[] {
    return this.entries(field).map((entry) => read(new AnswerFields(entry, kind)));
  }

  names(field: string): string[] {
    return this.entries(field).map((name) => new AnswerFields({ name }, field).name('name'));
  }

  /** Key-value pairs. */
  properties(field: string): Record<string, string> {
    const pairs = this.part(field);
    // Not by assignment: a key may be `__proto__`.
    return Object.fromEntries(Object.keys(pairs.fields).map((key) => [key, pairs.content(key) ?? '']));
  }

  /** Without fields where it is absent. */
  part(field: string): AnswerFields {
    return new AnswerFields(this.value(field) ?? {}, `${this.kind}'s ${field}`);
  }

  private entries(field: string): unknown[] {
    const value = this.value(field) ?? [];
    if (!Array.isArray(value)) throw this.unusable(field, 'is not a list');
    return value;
  }

  private texts(field: string, longest: number): string | null {
    const value = this.value(field);
    if (value === null || value === '') return null;
    if (typeof value !== 'string') throw this.unusable(field, 'is not a text');
    if (value.length > longest) {
      throw new MetastoreError('too-large', `The metastore answers with a ${this.kind} whose ${field} is too long.`);
    }
    return value;
  }

  private value(field: string): unknown {
    return Object.hasOwn(this.fields, field) ? (this.fields[field] ?? null) : null;
  }

  private unusable(field: string, why: string): MetastoreError {
    return new MetastoreError(
      'failed',
      `The metastore answers with a ${this.kind} whose ${printableKey(field)} ${why}.`,
    );
  }
}

/** Keys of properties come from the metastore, too. */
function printableKey(key: string): string {
  return key.length > 100 ? `${key.slice(0, 100)}…` : key;
}
