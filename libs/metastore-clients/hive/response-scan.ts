import { MetastoreError } from '../metastore-client';

/** Limit of one response; 100,000 names of 255 letters take 25 MiB. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Limit of the values of one response, each of which becomes an object or a text; room for 100 tables of 2,500 columns. */
const MAX_VALUES = 2_000_000;

/** Extra weight of a struct in a list: it becomes an object with all its fields, even if they were not sent. */
const VALUES_OF_STRUCT = 4;

/** Limit of nested containers and structs; real responses have seven levels. */
const MAX_DEPTH = 32;

const FIRST_ALLOCATION = 4 * 1024;

/** A strict message of Thrift's binary protocol begins with `0x8001` and the type of the message. */
const VERSION = 0x8001_0000;
const REPLY = 2;
const EXCEPTION = 3;

/** Types of values in Thrift's binary protocol. */
const STOP = 0;
const STRING = 11;
const STRUCT = 12;
const MAP = 13;
const SET = 14;
const LIST = 15;

/** Bytes of the values of a fixed size: bool, byte, double, i16, i32, i64. */
const SIZES: Readonly<Record<number, number>> = { 2: 1, 3: 1, 4: 8, 6: 2, 8: 4, 10: 8 };

/** An unfinished struct or container. A map is a list of alternating keys and values. */
interface Open {
  /** Alternating types of the entries; null for a struct, whose fields each carry their type. */
  types: readonly number[] | null;
  /** Remaining entries; unused for a struct. */
  left: number;
}

/** The first byte from a server that requires SASL, sent to a client that does not log in: a status. */
const SASL_REFUSALS = [3, 4];

/**
 * Checks one response in Thrift's binary protocol while its bytes arrive, before Thrift's own reader gets them: that one
 * starts over with every chunk and trusts every size. Checks each size when it is announced, and visits each byte once.
 * Throws {@link MetastoreError}.
 */
export class ResponseScan {
  private buffer = Buffer.allocUnsafe(FIRST_ALLOCATION);
  private length = 0;
  /** Offset of the next value; beyond `length` if the previous value has not fully arrived. */
  private position = 0;
  private values = 0;
  private readonly open: Open[] = [];
  /** Type of the value at `position` whose header is still to be read. */
  private begun: number | null = null;
  private readonly header: Buffer;

  /**
   * @param server for messages
   * @param sequence the number of the call
   */
  constructor(
    private readonly server: string,
    method: string,
    sequence: number,
  ) {
    const name = Buffer.from(method);
    this.header = Buffer.alloc(name.length + 12);
    this.header.writeUInt32BE(VERSION + REPLY, 0);
    this.header.writeInt32BE(name.length, 4);
    name.copy(this.header, 8);
    this.header.writeInt32BE(sequence, name.length + 8);
  }

  /** Adds a chunk; returns true once the response is complete. */
  push(chunk: Buffer): boolean {
    this.keep(chunk);
    if (this.position === 0 && !this.readHeader()) return false;
    while (this.open.length > 0) if (!this.step()) return false;
    if (this.length > this.position) throw this.invalid('sends more than its response');
    return this.length === this.position;
  }

  /** The complete response. */
  get response(): Buffer {
    return this.buffer.subarray(0, this.length);
  }

  private keep(chunk: Buffer): void {
    const length = this.length + chunk.length;
    if (length > MAX_BYTES) throw this.tooLarge();
    if (length > this.buffer.length) {
      const larger = Buffer.allocUnsafe(Math.min(Math.max(this.buffer.length * 2, length), MAX_BYTES));
      this.buffer.copy(larger, 0, 0, this.length);
      this.buffer = larger;
    }
    chunk.copy(this.buffer, this.length);
    this.length = length;
  }

  /** Checks even a partial header: a server of another protocol may never send the rest. */
  private readHeader(): boolean {
    const { buffer, header, length } = this;
    if (SASL_REFUSALS.includes(buffer[0] ?? 0)) {
      throw new MetastoreError(
        'denied',
        `${this.server} requires a login by SASL (Kerberos). Configure it in the hive-site.xml of the catalog.`,
      );
    }
    const available = Math.min(length, header.length);
    const actual = Buffer.from(buffer.subarray(0, available));
    if (available > 3 && actual[3] === EXCEPTION) actual[3] = REPLY;
    if (!actual.equals(header.subarray(0, available))) throw this.invalid('sends a response to another call');
    if (length < header.length) return false;
    this.position = header.length;
    this.open.push({ types: null, left: 0 });
    return true;
  }

  /** Checks the next value; returns false if it has not arrived. */
  private step(): boolean {
    if (this.begun !== null) return this.readBegun(this.begun);
    const within = this.open.at(-1);
    if (!within) return true;
    if (within.types === null) return this.readField();
    if (within.left === 0) {
      this.open.pop();
      return true;
    }
    const type = within.types[within.left % within.types.length] ?? STOP;
    within.left -= 1;
    if (type === STRUCT) this.count(VALUES_OF_STRUCT);
    this.begin(type);
    return true;
  }

  private readField(): boolean {
    if (!this.has(1)) return false;
    const type = this.buffer[this.position] ?? STOP;
    if (type === STOP) {
      this.position += 1;
      this.open.pop();
      return true;
    }
    if (!this.has(3)) return false;
    this.position += 3;
    this.count(1);
    this.begin(type);
    return true;
  }

  private begin(type: number): void {
    const size = SIZES[type];
    if (size !== undefined) this.skip(size);
    else if (type === STRUCT) this.enter({ types: null, left: 0 });
    else this.begun = type;
  }

  private readBegun(type: number): boolean {
    switch (type) {
      case STRING:
        if (!this.has(4)) return false;
        this.skip(4 + this.sizeAt(0));
        break;
      case LIST:
      case SET:
        if (!this.has(5)) return false;
        this.enterEntries([this.typeAt(0)], this.sizeAt(1), 5);
        break;
      case MAP:
        if (!this.has(6)) return false;
        // Entries are counted down, so an even number left means that a key is next.
        this.enterEntries([this.typeAt(0), this.typeAt(1)], 2 * this.sizeAt(2), 6);
        break;
      default:
        throw this.invalid(`sends a value of the unknown type ${type}`);
    }
    this.begun = null;
    return true;
  }

  private enterEntries(types: readonly number[], left: number, headerBytes: number): void {
    this.position += headerBytes;
    this.count(left);
    // Each entry takes at least one byte.
    if (this.position + left > MAX_BYTES) throw this.tooLarge();
    this.enter({ types, left });
  }

  private enter(open: Open): void {
    if (this.open.length >= MAX_DEPTH) throw this.invalid('sends values that are nested too deep');
    this.open.push(open);
  }

  private skip(bytes: number): void {
    this.position += bytes;
    if (this.position > MAX_BYTES) throw this.tooLarge();
  }

  private count(values: number): void {
    this.values += values;
    if (this.values > MAX_VALUES) throw this.tooLarge();
  }

  private has(bytes: number): boolean {
    return this.position + bytes <= this.length;
  }

  private typeAt(offset: number): number {
    return this.buffer[this.position + offset] ?? STOP;
  }

  private sizeAt(offset: number): number {
    const size = this.buffer.readInt32BE(this.position + offset);
    if (size < 0) throw this.invalid('sends a negative size');
    return size;
  }

  private invalid(problem: string): MetastoreError {
    return new MetastoreError('failed', `${this.server} is not a Hive metastore: it ${problem}.`);
  }

  private tooLarge(): MetastoreError {
    const max = `${MAX_BYTES / 2 ** 20} MiB or ${MAX_VALUES} values`;
    return new MetastoreError('too-large', `The response of ${this.server} has more than ${max}.`);
  }
}
