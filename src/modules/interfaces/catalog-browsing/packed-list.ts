import { parseTrusted } from '../../../../libs/json/parse-json';
/**
 * A list of records in one buffer, for lists that are kept long and read in parts: as objects 10,000 tables take some
 * five times the memory, and each is one more thing that a garbage collection looks at.
 */
export class PackedList<T> {
  private constructor(
    private readonly bytes: Buffer,
    /** Where each record ends. */
    private readonly ends: Uint32Array,
  ) {}

  static of<T>(records: readonly T[]): PackedList<T> {
    const ends = new Uint32Array(records.length);
    const parts: Buffer[] = [];
    let end = 0;
    records.forEach((record, index) => {
      const part = Buffer.from(JSON.stringify(record));
      parts.push(part);
      end += part.length;
      ends[index] = end;
    });
    return new PackedList(Buffer.concat(parts, end), ends);
  }

  get length(): number {
    return this.ends.length;
  }

  /** Bytes that it takes. */
  get size(): number {
    return this.bytes.length + this.ends.byteLength;
  }

  /** Records `from` up to and without `to`, as `Array.slice` counts from zero on. */
  slice(from = 0, to = this.length): T[] {
    const records: T[] = [];
    for (let index = Math.max(from, 0); index < Math.min(to, this.length); index += 1) records.push(this.at(index));
    return records;
  }

  private at(index: number): T {
    const start = index === 0 ? 0 : this.ends[index - 1];
    return parseTrusted<T>(this.bytes.toString('utf8', start, this.ends[index]));
  }
}
