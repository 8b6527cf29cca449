import { parseTrusted } from '../../../../libs/json/parse-json';
/**
 * A list of records encoded in one buffer, for lists that are cached and read in parts. As objects, 10,000 tables would take about
 * five times the memory and slow down garbage collection.
 */
export class PackedList<T> {
  private constructor(
    private readonly bytes: Buffer,
    /** End offset of each record. */
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

  get size(): number {
    return this.bytes.length + this.ends.byteLength;
  }

  /** Like `Array.slice`, but without negative indexes. */
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
