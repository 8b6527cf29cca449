import { createHash } from 'node:crypto';

/** Messages of HiveServer2's protocol begin with a version, the length of a name, the name, and a sequence number. */
const NAME_AT = 8;
const SEQUENCE_BYTES = 4;
const CALL = 0x80010001;
const FETCH = Buffer.from('FetchResults');
const SEQUENCE_AT = NAME_AT + FETCH.length;
const BODY_AT = SEQUENCE_AT + SEQUENCE_BYTES;

/** A message that fetches rows of a result. */
export interface Fetch {
  /** Equal for repetitions of the fetch by the same user only. SHA-256 in hexadecimal, computed as in `thrift_prefetch.py`. */
  key: string;
  sequence: Buffer;
}

/** Returns null if the message is not a fetch. */
export function parseFetch(message: Buffer, user: string): Fetch | null {
  if (message.length < BODY_AT || message.readUInt32BE(0) !== CALL) return null;
  if (message.readUInt32BE(4) !== FETCH.length || !isFetch(message)) return null;
  const key = createHash('sha256')
    .update(user)
    .update(Buffer.alloc(1))
    .update(message.subarray(0, SEQUENCE_AT))
    .update(Buffer.alloc(SEQUENCE_BYTES))
    .update(message.subarray(BODY_AT))
    .digest('hex');
  return { key, sequence: message.subarray(SEQUENCE_AT, BODY_AT) };
}

/** Writes the sequence number into an answer, if it answers a fetch. */
export function writeSequence(answer: Buffer, sequence: Buffer): void {
  if (answer.length >= BODY_AT && isFetch(answer)) sequence.copy(answer, SEQUENCE_AT);
}

function isFetch(message: Buffer): boolean {
  return message.subarray(NAME_AT, SEQUENCE_AT).equals(FETCH);
}
