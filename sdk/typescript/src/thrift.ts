// Thrift's binary protocol, as far as HiveServer2 uses it. The package of Apache needs Node, and streams instead of fetch.

/** The types of the wire. */
export const T = {
  bool: 2,
  byte: 3,
  double: 4,
  i16: 6,
  i32: 8,
  i64: 10,
  text: 11,
  struct: 12,
  map: 13,
  set: 14,
  list: 15,
} as const;

type Type = (typeof T)[keyof typeof T];

/** The fields of a struct by their ids. Texts and binaries are bytes, and integers of 64 bits bigints. */
export type Struct = ReadonlyMap<number, Value>;
export type Value = boolean | number | bigint | Uint8Array | Struct | Value[] | [Value, Value][];

/** A field to write: its id, its type and its value. */
export type Field = readonly [id: number, type: Type, value: unknown];

const VERSION = 0x80010000;
const CALL = 1;
const EXCEPTION = 3;
const MAX_DEPTH = 32;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function textOf(value: Value | undefined): string {
  return value instanceof Uint8Array ? decoder.decode(value) : '';
}

export function structOf(value: Value | undefined): Struct {
  return value instanceof Map ? (value as Struct) : new Map<number, Value>();
}

/** Returns the message that calls a method with one struct. */
export function encodeCall(method: string, sequence: number, request: readonly Field[]): Uint8Array<ArrayBuffer> {
  const writer = new Writer();
  writer.i32(VERSION | CALL);
  writer.bytes(encoder.encode(method));
  writer.i32(sequence);
  writer.struct([[1, T.struct, request]]);
  return writer.result();
}

/** Returns the struct that a method answered. @throws Error if the message is damaged, or says that the call failed */
export function decodeReply(bytes: Uint8Array): Struct {
  const reader = new Reader(bytes);
  const kind = reader.i32() & 0xff;
  reader.bytes();
  reader.i32();
  const fields = reader.struct(0);
  if (kind === EXCEPTION) throw new Error(textOf(fields.get(1)) || 'The call failed.');
  return structOf(fields.get(0));
}

class Writer {
  readonly #parts: Uint8Array[] = [];

  struct(fields: readonly Field[]): void {
    for (const [id, type, value] of fields) {
      this.#number(1, (view) => view.setInt8(0, type));
      this.#number(2, (view) => view.setInt16(0, id));
      this.#value(type, value);
    }
    this.#number(1, (view) => view.setInt8(0, 0));
  }

  i32(value: number): void {
    this.#number(4, (view) => view.setInt32(0, value));
  }

  bytes(value: Uint8Array): void {
    this.i32(value.length);
    this.#parts.push(value);
  }

  result(): Uint8Array<ArrayBuffer> {
    const all = new Uint8Array(this.#parts.reduce((length, part) => length + part.length, 0));
    let at = 0;
    for (const part of this.#parts) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  }

  #value(type: Type, value: unknown): void {
    switch (type) {
      case T.bool:
        return this.#number(1, (view) => view.setInt8(0, value ? 1 : 0));
      case T.byte:
        return this.#number(1, (view) => view.setInt8(0, Number(value)));
      case T.i16:
        return this.#number(2, (view) => view.setInt16(0, Number(value)));
      case T.i32:
        return this.i32(Number(value));
      case T.i64:
        return this.#number(8, (view) => view.setBigInt64(0, BigInt(value as number)));
      case T.double:
        return this.#number(8, (view) => view.setFloat64(0, Number(value)));
      case T.text:
        return this.bytes(value instanceof Uint8Array ? value : encoder.encode(String(value)));
      case T.struct:
        return this.struct(value as readonly Field[]);
      case T.map:
      case T.set:
      case T.list:
        throw new Error('No request has a list.');
    }
  }

  #number(length: number, write: (view: DataView) => void): void {
    const bytes = new Uint8Array(length);
    write(new DataView(bytes.buffer));
    this.#parts.push(bytes);
  }
}

class Reader {
  readonly #all: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#all = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  i32(): number {
    return this.#view.getInt32(this.#skip(4));
  }

  bytes(): Uint8Array {
    const length = this.#count(1);
    const at = this.#skip(length);
    return this.#all.subarray(at, at + length);
  }

  struct(depth: number): Struct {
    if (depth > MAX_DEPTH) throw new Error('The message is nested too deeply.');
    const fields = new Map<number, Value>();
    for (;;) {
      const type = this.#view.getInt8(this.#skip(1));
      if (type === 0) return fields;
      const id = this.#view.getInt16(this.#skip(2));
      fields.set(id, this.#value(type, depth + 1));
    }
  }

  #value(type: number, depth: number): Value {
    switch (type) {
      case T.bool:
        return this.#view.getInt8(this.#skip(1)) !== 0;
      case T.byte:
        return this.#view.getInt8(this.#skip(1));
      case T.i16:
        return this.#view.getInt16(this.#skip(2));
      case T.i32:
        return this.i32();
      case T.i64:
        return this.#view.getBigInt64(this.#skip(8));
      case T.double:
        return this.#view.getFloat64(this.#skip(8));
      case T.text:
        return this.bytes();
      case T.struct:
        return this.struct(depth);
      case T.map:
        return this.#map(depth);
      case T.set:
      case T.list:
        return this.#list(depth);
      default:
        throw new Error(`The message has a value of the unknown type ${type}.`);
    }
  }

  #list(depth: number): Value[] {
    const type = this.#view.getInt8(this.#skip(1));
    const items: Value[] = [];
    for (let left = this.#count(1); left > 0; left -= 1) items.push(this.#value(type, depth + 1));
    return items;
  }

  #map(depth: number): [Value, Value][] {
    const [key, value] = [this.#view.getInt8(this.#skip(1)), this.#view.getInt8(this.#skip(1))];
    const entries: [Value, Value][] = [];
    for (let left = this.#count(2); left > 0; left -= 1) {
      entries.push([this.#value(key, depth + 1), this.#value(value, depth + 1)]);
    }
    return entries;
  }

  /** Reads a length, which is not more than the bytes that are left can hold. */
  #count(bytesEach: number): number {
    const count = this.i32();
    if (count < 0 || count * bytesEach > this.#all.length - this.#at) throw new Error('The message is damaged.');
    return count;
  }

  /** @returns the place before the skipped bytes */
  #skip(length: number): number {
    const at = this.#at;
    this.#at += length;
    return at;
  }
}
