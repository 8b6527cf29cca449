/**
 * The encoding of messages between the control plane and the process of a run, in files on the node and in requests of its
 * agent. A message has a number, which counts from 1 in each direction without gaps, and a payload, which is opaque to the
 * agent and to the control plane's transport. See ADR 0033.
 */

export interface NumberedPayload {
  number: number;
  payload: Buffer;
}

export const MAX_PAYLOAD_BYTES = 16 * 1024 * 1024;

/** Length (u32) and number (u64), big-endian, before each payload in requests and answers of an agent. */
const WIRE_HEADER = 12;

/** Thrown for bytes that are no sequence of records, or for records that exceed the limits. */
export class MalformedRecords extends Error {}

/** Encodes records as the body of a request or a response. */
export function encodeRecords(records: readonly NumberedPayload[]): Buffer {
  return Buffer.concat(
    records.flatMap(({ number, payload }) => {
      const header = Buffer.allocUnsafe(WIRE_HEADER);
      header.writeUInt32BE(payload.length, 0);
      header.writeBigUInt64BE(BigInt(number), 4);
      return [header, payload];
    }),
  );
}

/**
 * Decodes the records of a body. Their numbers are consecutive, and their payloads share the memory of the body.
 * @throws MalformedRecords
 */
export function decodeRecords(body: Buffer): NumberedPayload[] {
  const records: NumberedPayload[] = [];
  for (let at = 0; at < body.length;) {
    if (body.length - at < WIRE_HEADER) throw new MalformedRecords('A record ends within its header.');
    const length = body.readUInt32BE(at);
    const number = readNumber(body, at + 4);
    at += WIRE_HEADER;
    if (length > MAX_PAYLOAD_BYTES) throw new MalformedRecords(`A record is longer than ${MAX_PAYLOAD_BYTES} bytes.`);
    if (length > body.length - at) throw new MalformedRecords('A record ends before its length.');
    const last = records.at(-1);
    if (last !== undefined && number !== last.number + 1) throw new MalformedRecords('Numbers of records have a gap.');
    records.push({ number, payload: body.subarray(at, at + length) });
    at += length;
  }
  return records;
}

/** A record in a file on a node. */
export interface FileRecord extends NumberedPayload {
  /** Number of the last record that the writer of this file has read from the file for the other direction. */
  ack: number;
}

/** `RCH1`: begins each record of a file. */
const MAGIC = 0x52434831;
/** Magic (u32), length of the payload (u32), number (u64), ack (u64), big-endian, before each payload in a file. */
export const FILE_HEADER = 24;

export function encodeFileRecord({ number, ack, payload }: FileRecord): Buffer {
  const header = Buffer.allocUnsafe(FILE_HEADER);
  header.writeUInt32BE(MAGIC, 0);
  header.writeUInt32BE(payload.length, 4);
  header.writeBigUInt64BE(BigInt(number), 8);
  header.writeBigUInt64BE(BigInt(ack), 16);
  return Buffer.concat([header, payload]);
}

/** Decodes the header of a record. Returns null if there is no header, or if the payload would be too long. */
export function decodeFileHeader(header: Buffer): { length: number; number: number; ack: number } | null {
  if (header.length < FILE_HEADER || header.readUInt32BE(0) !== MAGIC) return null;
  const length = header.readUInt32BE(4);
  if (length > MAX_PAYLOAD_BYTES) return null;
  try {
    return { length, number: readNumber(header, 8), ack: readNumber(header, 16) };
  } catch (error) {
    if (error instanceof MalformedRecords) return null;
    throw error;
  }
}

function readNumber(bytes: Buffer, at: number): number {
  const number = bytes.readBigUInt64BE(at);
  if (number > BigInt(Number.MAX_SAFE_INTEGER)) throw new MalformedRecords('A number is too large.');
  return Number(number);
}
