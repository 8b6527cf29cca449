import { TBinaryProtocol, TBufferedTransport, TFramedTransport, Thrift, type TProtocol } from 'thrift';

/**
 * Reads and writes values of one type in the binary protocol, without the begin and end calls that write no bytes there.
 * Memory grows with the bytes that are read, not with an announced size.
 */
export interface ThriftType<T> {
  readonly code: Thrift.Type;
  read(input: TProtocol): T;
  write(output: TProtocol, value: T): void;
}

/** The fields of a struct by name. */
type Fields = Readonly<Record<string, readonly [id: number, type: ThriftType<unknown>]>>;

export type ValueOf<T> = T extends ThriftType<infer Value> ? Value : never;

/** A field that was not sent is null. */
type StructOf<F extends Fields> = { [Name in keyof F]: ValueOf<F[Name][1]> | null };

type ArgumentsOf<F extends Fields> = { [Name in keyof F]: ValueOf<F[Name][1]> };

export const bool: ThriftType<boolean> = {
  code: Thrift.Type.BOOL,
  read: (input) => input.readBool(),
  write: (output, value) => output.writeBool(value),
};

export const i32: ThriftType<number> = {
  code: Thrift.Type.I32,
  read: (input) => input.readI32(),
  write: (output, value) => output.writeI32(value),
};

export const string: ThriftType<string> = {
  code: Thrift.Type.STRING,
  read: (input) => input.readString(),
  write: (output, value) => output.writeString(value),
};

export function list<T>(of: ThriftType<T>): ThriftType<T[]> {
  return {
    code: Thrift.Type.LIST,
    read: (input) => {
      const { etype, size } = input.readListBegin();
      if (size > 0) assertType(etype, of);
      const values: T[] = [];
      while (values.length < size) values.push(of.read(input));
      return values;
    },
    write: (output, values) => {
      output.writeListBegin(of.code, values.length);
      for (const value of values) of.write(output, value);
    },
  };
}

/** A map whose keys are texts. */
export function map<T>(of: ThriftType<T>): ThriftType<Record<string, T>> {
  return {
    code: Thrift.Type.MAP,
    read: (input) => {
      const { ktype, vtype, size } = input.readMapBegin();
      if (size > 0) {
        assertType(ktype, string);
        assertType(vtype, of);
      }
      const entries: [string, T][] = [];
      while (entries.length < size) entries.push([input.readString(), of.read(input)]);
      // Object.fromEntries, not assignment: a key may be `__proto__`.
      return Object.fromEntries(entries);
    },
    write: (output, value) => {
      const entries = Object.entries(value);
      output.writeMapBegin(Thrift.Type.STRING, of.code, entries.length);
      for (const [key, entry] of entries) {
        output.writeString(key);
        of.write(output, entry);
      }
    },
  };
}

/** A struct; `none` is the struct without any field. Unknown fields, and fields of another type, are skipped. */
export function struct<F extends Fields>(fields: F): ThriftType<StructOf<F>> & { none: StructOf<F> } {
  const entries = Object.entries(fields).map(([name, [id, type]]) => ({ name, id, type }));
  const byId = new Map(entries.map((field) => [field.id, field]));
  const none: Record<string, unknown> = Object.freeze(Object.fromEntries(entries.map(({ name }) => [name, null])));
  return {
    code: Thrift.Type.STRUCT,
    none: none as StructOf<F>,
    read: (input) => {
      const value = { ...none };
      for (let sent = input.readFieldBegin(); sent.ftype !== Thrift.Type.STOP; sent = input.readFieldBegin()) {
        const field = byId.get(sent.fid);
        if (field?.type.code === sent.ftype) value[field.name] = field.type.read(input);
        else input.skip(sent.ftype);
      }
      return value as StructOf<F>;
    },
    write: (output, value) => {
      for (const { name, id, type } of entries) {
        const fieldValue = value[name] ?? null;
        if (fieldValue === null) continue;
        output.writeFieldBegin(name, type.code, id);
        type.write(output, fieldValue);
      }
      output.writeFieldStop();
    },
  };
}

/** Exceptions begin with a message; Thrift's own exception also has a type. */
const EXCEPTION = struct({ message: [1, string], type: [2, i32] });

/** The exception that a server returned instead of a result. */
export class ThriftException extends Error {
  readonly type: number | null;

  /** @param kind an exception that the method declares, `TApplicationException`, or null for a response without a result */
  constructor(
    readonly kind: string | null,
    { message, type }: ValueOf<typeof EXCEPTION> = EXCEPTION.none,
  ) {
    super(message ? message : (kind ?? ''));
    this.type = type;
  }
}

/** A method of a service. */
export interface ThriftMethod<Arguments, Result> {
  readonly name: string;
  /** Encodes the request. */
  call(sequence: number, values: Arguments): Buffer;
  /** Decodes a complete response. Throws {@link ThriftException}. */
  read(answer: Buffer): Result;
}

/**
 * @param answer null for a method without a result
 * @param exceptions the exceptions that it declares, in the order of their ids, from 1 on
 */
export function method<F extends Fields, R>(
  name: string,
  fields: F,
  answer: ThriftType<R> | null,
  exceptions: readonly string[],
): ThriftMethod<ArgumentsOf<F>, R> {
  const sent = struct(fields);
  const declared = Object.fromEntries(exceptions.map((kind, at) => [kind, [at + 1, thrown(kind)] as const]));
  const result = struct(answer ? { ...declared, success: [0, answer] } : declared);
  return {
    name,
    call: (sequence, values) => {
      const parts: Buffer[] = [];
      const transport = new TBufferedTransport(undefined, (bytes) => void (bytes && parts.push(bytes)));
      const output = new TBinaryProtocol(transport);
      output.writeMessageBegin(name, Thrift.MessageType.CALL, sequence);
      sent.write(output, values);
      output.writeMessageEnd();
      output.flush();
      return Buffer.concat(parts);
    },
    read: (message) => {
      const input = new TBinaryProtocol(new TFramedTransport(message));
      const { mtype } = input.readMessageBegin();
      const { success } = (mtype === Thrift.MessageType.EXCEPTION ? thrown('TApplicationException') : result).read(
        input,
      );
      if (answer && success === null) throw new ThriftException(null);
      return success as R;
    },
  };
}

/** A type whose `read` throws the exception. */
function thrown(kind: string): ThriftType<never> {
  return {
    ...EXCEPTION,
    read: (input) => {
      throw new ThriftException(kind, EXCEPTION.read(input));
    },
  };
}

function assertType(code: Thrift.Type, { code: wanted }: ThriftType<unknown>): void {
  if (code !== wanted) throw new TypeError(`The response has values of the type ${code} instead of ${wanted}.`);
}
