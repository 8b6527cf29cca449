/** Messages of HiveServer2's protocol in binary Thrift, as its clients write them. */

const STRING = 11;
const STRUCT = 12;
const MAP = 13;
const BOOL = 2;
const I32 = 8;
const I64 = 10;

type Field = [id: number, type: number, value: Buffer];

/** The server's identifier of a session or an operation. */
export interface HiveHandle {
  guid: Buffer;
  secret: Buffer;
}

function int(value: number, bytes: 2 | 4): Buffer {
  const buffer = Buffer.alloc(bytes);
  if (bytes === 2) buffer.writeInt16BE(value);
  else buffer.writeInt32BE(value);
  return buffer;
}

function text(value: string | Buffer): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([int(bytes.length, 4), bytes]);
}

function struct(...fields: Field[]): Buffer {
  const parts = fields.flatMap(([id, type, value]) => [Buffer.from([type]), int(id, 2), value]);
  return Buffer.concat([...parts, Buffer.from([0])]);
}

/** Builds a call with the fields of its only argument. */
export function hiveCall(name: string, ...fields: Field[]): Buffer {
  const head = Buffer.from([0x80, 0x01, 0, 1]);
  return Buffer.concat([head, text(name), int(1, 4), struct([1, STRUCT, struct(...fields)])]);
}

const handleField = ({ guid, secret }: HiveHandle, id = 1, more: Field[] = []): Field => [
  id,
  STRUCT,
  struct([1, STRUCT, struct([1, STRING, text(guid)], [2, STRING, text(secret)])], ...more),
];

/** @param username the name that the client sends */
export function openSession(username = 'anybody', configuration: readonly (readonly [string, string])[] = []): Buffer {
  const entries = configuration.flatMap(([key, value]) => [text(key), text(value)]);
  const map = Buffer.concat([Buffer.from([STRING, STRING]), int(configuration.length, 4), ...entries]);
  const fields: Field[] = configuration.length > 0 ? [[4, MAP, map]] : [];
  return hiveCall('OpenSession', [1, I32, int(7, 4)], [2, STRING, text(username)], ...fields);
}

/** Builds the response to an opened session: status, version, handle and optionally configuration. */
export function openedSession(
  { guid, secret }: HiveHandle,
  configuration?: readonly (readonly [string, string])[],
): Buffer {
  const entries = configuration?.flatMap(([key, value]) => [text(key), text(value)]) ?? [];
  const map = Buffer.concat([Buffer.from([STRING, STRING]), int(configuration?.length ?? 0, 4), ...entries]);
  const answer: Field[] = [
    [1, STRUCT, struct([1, I32, int(0, 4)])],
    [2, I32, int(7, 4)],
    handleField({ guid, secret }, 3),
    ...(configuration ? [[4, MAP, map] satisfies Field] : []),
  ];
  return reply('OpenSession', ...answer);
}

function reply(name: string, ...answer: Field[]): Buffer {
  const head = Buffer.from([0x80, 0x01, 0, 2]);
  return Buffer.concat([head, text(name), int(1, 4), struct([0, STRUCT, struct(...answer)])]);
}

export function closeSession(session: HiveHandle): Buffer {
  return hiveCall('CloseSession', handleField(session));
}

export function executeStatement(session: HiveHandle, statement: string): Buffer {
  return hiveCall('ExecuteStatement', handleField(session), [2, STRING, text(statement)], [4, BOOL, Buffer.from([0])]);
}

/** @param begin 0 for the next rows, 1 for those before, 4 for the first */
export function fetchResults(operation: HiveHandle, rows = 100, begin = 0): Buffer {
  const count = Buffer.alloc(8);
  count.writeBigInt64BE(BigInt(rows));
  const kind: Field[] = [
    [2, I32, int(0, 4)],
    [3, BOOL, Buffer.from([1])],
  ];
  return hiveCall('FetchResults', handleField(operation, 1, kind), [2, I32, int(begin, 4)], [3, I64, count]);
}

export function closeOperation(operation: HiveHandle): Buffer {
  const kind: Field[] = [
    [2, I32, int(0, 4)],
    [3, BOOL, Buffer.from([1])],
  ];
  return hiveCall('CloseOperation', handleField(operation, 1, kind));
}

export function getOperationStatus(operation: HiveHandle): Buffer {
  const kind: Field[] = [
    [2, I32, int(0, 4)],
    [3, BOOL, Buffer.from([1])],
  ];
  return hiveCall('GetOperationStatus', handleField(operation, 1, kind));
}

/** Builds the response to `getOperationStatus`. @param state 1 while it runs, 2 when it has finished; none if the call failed */
export function operationStatus(state?: number): Buffer {
  const answer: Field[] = [
    [1, STRUCT, struct([1, I32, int(state === undefined ? 3 : 0, 4)])],
    ...(state === undefined ? [] : [[2, I32, int(state, 4)] satisfies Field]),
  ];
  return reply('GetOperationStatus', ...answer);
}

/** Returns the handle in a response: two texts of 16 bytes in consecutive fields. */
export function handleIn(answer: Buffer): HiveHandle {
  const head = Buffer.from([STRING, 0, 1, 0, 0, 0, 16]);
  const at = answer.indexOf(head);
  const between = Buffer.from([STRING, 0, 2, 0, 0, 0, 16]);
  const begin = at + head.length;
  if (
    at < 0 ||
    !answer
      .subarray(begin + 16)
      .subarray(0, between.length)
      .equals(between)
  ) {
    throw new Error(`The answer has no handle: ${answer.toString('latin1').replaceAll(/[^ -~]+/g, ' ')}`);
  }
  const secret = begin + 16 + between.length;
  return { guid: answer.subarray(begin, begin + 16), secret: answer.subarray(secret, secret + 16) };
}
