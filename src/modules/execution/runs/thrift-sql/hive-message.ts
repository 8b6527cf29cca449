import { createHash } from 'node:crypto';

/** Messages of HiveServer2's protocol begin with a version, the length of a name, the name, and a sequence number. */
const NAME_AT = 8;
const SEQUENCE_BYTES = 4;
const CALL = 0x80010001;
const FETCH = Buffer.from('FetchResults');
const SEQUENCE_AT = NAME_AT + FETCH.length;
const BEHIND = SEQUENCE_AT + SEQUENCE_BYTES;

/** A message that asks for rows of a result. */
export interface Fetch {
  /** What it and its repetitions have in common, and nobody else's: SHA-256 in hexadecimal, as `thrift_prefetch.py` makes it. */
  key: string;
  sequence: Buffer;
}

/** What a user's message is as a fetch; null for any other. */
export function fetchIn(message: Buffer, user: string): Fetch | null {
  if (message.length < BEHIND || message.readUInt32BE(0) !== CALL) return null;
  if (message.readUInt32BE(4) !== FETCH.length || !isNamed(message)) return null;
  const key = createHash('sha256')
    .update(user)
    .update(Buffer.alloc(1))
    .update(message.subarray(0, SEQUENCE_AT))
    .update(Buffer.alloc(SEQUENCE_BYTES))
    .update(message.subarray(BEHIND))
    .digest('hex');
  return { key, sequence: message.subarray(SEQUENCE_AT, BEHIND) };
}

/** Puts a sequence number into an answer, if it is one to a fetch. */
export function putSequence(answer: Buffer, sequence: Buffer): void {
  if (answer.length >= BEHIND && isNamed(answer)) sequence.copy(answer, SEQUENCE_AT);
}

function isNamed(message: Buffer): boolean {
  return message.subarray(NAME_AT, SEQUENCE_AT).equals(FETCH);
}
