import { createHash } from 'node:crypto';

/** Messages of HiveServer2's protocol begin with a version, the length of a name, the name, and a sequence number. */
const NAME_AT = 8;
const SEQUENCE_BYTES = 4;
const CALL = 0x80010001;

/** Calls that clients repeat until they have all rows of a result. */
const REPEATED = ['FetchResults', 'GetOperationStatus'] as const;

/** A call that a client may have sent before, with another sequence number. */
export interface RepeatedCall {
  name: (typeof REPEATED)[number];
  /** Equal for repetitions of the call by the same user only. SHA-256 in hexadecimal, computed as in `thrift_prefetch.py`. */
  key: string;
  sequence: Buffer;
}

/** Returns null for every other message. */
export function parseRepeated(message: Buffer, user: string): RepeatedCall | null {
  if (message.length < NAME_AT || message.readUInt32BE(0) !== CALL) return null;
  const name = REPEATED.find((repeated) => isNamed(message, repeated));
  if (!name) return null;
  const sequenceAt = NAME_AT + name.length;
  const bodyAt = sequenceAt + SEQUENCE_BYTES;
  const key = createHash('sha256')
    .update(user)
    .update(Buffer.alloc(1))
    .update(message.subarray(0, sequenceAt))
    .update(Buffer.alloc(SEQUENCE_BYTES))
    .update(message.subarray(bodyAt))
    .digest('hex');
  return { name, key, sequence: message.subarray(sequenceAt, bodyAt) };
}

/** Writes the sequence number of a call into an answer, if it answers such a call. */
export function writeSequence(answer: Buffer, { name, sequence }: RepeatedCall): void {
  if (isNamed(answer, name)) sequence.copy(answer, NAME_AT + name.length);
}

function isNamed(message: Buffer, name: string): boolean {
  const end = NAME_AT + name.length;
  if (message.length < end + SEQUENCE_BYTES || message.readUInt32BE(4) !== name.length) return false;
  return message.toString('latin1', NAME_AT, end) === name;
}
