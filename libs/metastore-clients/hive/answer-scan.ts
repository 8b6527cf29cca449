import { MetastoreError } from '../metastore-client';

/** Bytes of one answer; 100,000 names of 255 letters take 25 MiB. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Values of one answer, each of which becomes an object or a text; 100 tables of 2,500 columns have that many. */
const MAX_VALUES = 2_000_000;

/** An entry that is a struct becomes an object with all its fields, whether they were sent or not. */
const VALUES_OF_STRUCT = 4;

/** Of containers and structs in each other; the answers that are asked for have seven. */
const MAX_DEPTH = 32;

const FIRST_ALLOCATION = 4 * 1024;

/** `0x8001` and the type of the message, as strict writers of Thrift's binary protocol begin. */
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

/** What follows in an open struct or container. A map is a list of keys and values in turn. */
interface Open {
  /** Types of the entries in turn; null for a struct, each of whose fields tells its own. */
  types: readonly number[] | null;
  /** Entries yet to come; of a struct unknown. */
  left: number;
}

/** What a server that demands a login (SASL) says first to who does not log in: a status and the length of a message. */
const SASL_REFUSALS = [3, 4];

/**
 * Follows one answer in Thrift's binary protocol while its bytes arrive, before anything is made of them: Thrift's own
 * reader begins again with every chunk, and believes every size. Sizes are checked when they are announced; each byte is
 * looked at once. Throws {@link MetastoreError}.
 */
export class AnswerScan {
  private buffer = Buffer.allocUnsafe(FIRST_ALLOCATION);
  private length = 0;
  /** Of what is looked at next; beyond `length` where the value before has not arrived. */
  private position = 0;
  private values = 0;
  private readonly open: Open[] = [];
  /** Type of the value that begins at `position`, when its own header has to be read. */
  private begun: number | null = null;
  private readonly header: Buffer;

  /**
   * @param server who answers, for messages
   * @param method that was called
   * @param sequence number of the call
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

  /** Takes what has arrived; true once the answer is whole. */
  push(chunk: Buffer): boolean {
    this.keep(chunk);
    if (this.position === 0 && !this.readHeader()) return false;
    while (this.open.length > 0) if (!this.step()) return false;
    if (this.length > this.position) throw this.invalid('says more than its answer');
    return this.length === this.position;
  }

  /** The whole answer. */
  get answer(): Buffer {
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

  /** As far as it is there it has to be right: who says something else would be waited for in vain. */
  private readHeader(): boolean {
    const { buffer, header, length } = this;
    if (SASL_REFUSALS.includes(buffer[0] ?? 0)) {
      throw new MetastoreError('denied', `${this.server} demands a login by SASL (Kerberos).`);
    }
    const there = Math.min(length, header.length);
    const said = Buffer.from(buffer.subarray(0, there));
    if (there > 3 && said[3] === EXCEPTION) said[3] = REPLY;
    if (!said.equals(header.subarray(0, there))) throw this.invalid('does not answer what it was asked');
    if (length < header.length) return false;
    this.position = header.length;
    this.open.push({ types: null, left: 0 });
    return true;
  }

  /** Looks at what is next; false when that has not arrived. */
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
        // Counted downwards, an even number of entries left means a key.
        this.enterEntries([this.typeAt(0), this.typeAt(1)], 2 * this.sizeAt(2), 6);
        break;
      default:
        throw this.invalid(`answers with a value of the unknown type ${type}`);
    }
    this.begun = null;
    return true;
  }

  private enterEntries(types: readonly number[], left: number, headerBytes: number): void {
    this.position += headerBytes;
    this.count(left);
    // The smallest entry takes a byte.
    if (this.position + left > MAX_BYTES) throw this.tooLarge();
    this.enter({ types, left });
  }

  private enter(open: Open): void {
    if (this.open.length >= MAX_DEPTH) throw this.invalid('answers with values nested too deeply');
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
    if (size < 0) throw this.invalid('answers with a negative size');
    return size;
  }

  private invalid(what: string): MetastoreError {
    return new MetastoreError('failed', `${this.server} is no Hive metastore: it ${what}.`);
  }

  private tooLarge(): MetastoreError {
    const most = `${MAX_BYTES / 2 ** 20} MiB or ${MAX_VALUES} values`;
    return new MetastoreError('too-large', `${this.server} answers with more than ${most}.`);
  }
}
