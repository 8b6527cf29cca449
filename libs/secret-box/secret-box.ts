import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

/** A master key of the ring; 32 bytes. */
export interface MasterKey {
  id: string;
  key: Buffer;
}

export type SecretBoxFault =
  /** The bytes are not a box of this format. */
  | 'malformed'
  /** The box was sealed with a key that is not in the ring. */
  | 'unknown-key'
  /** The box was changed, or it belongs to other data than the caller's `aad`. */
  | 'not-authentic';

/** Says why a box cannot be opened. It holds neither a key nor a part of the content. */
export class SecretBoxError extends Error {
  constructor(
    readonly fault: SecretBoxFault,
    message: string,
  ) {
    super(message);
    this.name = 'SecretBoxError';
  }
}

const VERSION = 1;
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * AES-256-GCM in two levels: master keys wrap data keys, data keys seal secrets. A box is version (1 byte), length of
 * the key id (1 byte), key id, nonce (12), tag (16), data. Version and key id are authenticated with the caller's
 * `aad`, so that a box opens only where it belongs.
 */
export class SecretBox {
  private readonly ring: ReadonlyMap<string, MasterKey>;
  private readonly current: MasterKey;

  /** The first key wraps new data keys; all keys unwrap. */
  constructor(masterKeys: readonly MasterKey[]) {
    const [current] = masterKeys;
    if (!current) throw new Error('At least one master key is required');
    for (const { id, key } of masterKeys) {
      if (key.length !== KEY_BYTES) throw new Error(`Master key ${id} is not ${KEY_BYTES} bytes long`);
      if (id === '' || Buffer.byteLength(id) > 255) throw new Error('A master key id has 1 to 255 bytes');
    }
    this.ring = new Map(masterKeys.map((masterKey) => [masterKey.id, masterKey]));
    if (this.ring.size < masterKeys.length) throw new Error('Two master keys have the same id');
    this.current = current;
  }

  /** Id of the key that wraps now; data keys wrapped by another are due for rewrapping. */
  get currentKeyId(): string {
    return this.current.id;
  }

  /** Returns a new data key, which must leave the process only when wrapped. */
  createDataKey(): Buffer {
    return randomBytes(KEY_BYTES);
  }

  /** Encrypts a data key with the current master key. */
  wrapKey(dataKey: Buffer, aad: string): Buffer {
    assertDataKey(dataKey);
    return close(this.current, dataKey, aad);
  }

  /** Decrypts a wrapped data key with the master key that wrapped it. @throws SecretBoxError */
  unwrapKey(wrapped: Buffer, aad: string): Buffer {
    const box = parse(wrapped);
    const masterKey = this.ring.get(box.keyId);
    if (!masterKey) {
      throw new SecretBoxError(
        'unknown-key',
        `The data key is wrapped by master key ${box.keyId}, which is not configured`,
      );
    }
    return open(masterKey.key, box, aad);
  }

  /** Encrypts a secret with a data key. */
  seal(dataKey: Buffer, plaintext: Buffer, aad: string): Buffer {
    assertDataKey(dataKey);
    return close({ id: dataKeyId(dataKey), key: dataKey }, plaintext, aad);
  }

  /** Decrypts a sealed secret. @throws SecretBoxError */
  open(dataKey: Buffer, sealed: Buffer, aad: string): Buffer {
    assertDataKey(dataKey);
    const box = parse(sealed);
    if (box.keyId !== dataKeyId(dataKey)) {
      throw new SecretBoxError('unknown-key', 'The secret is sealed with another data key');
    }
    return open(dataKey, box, aad);
  }
}

interface Box {
  keyId: string;
  header: Buffer;
  nonce: Buffer;
  tag: Buffer;
  data: Buffer;
}

function close(masterKey: MasterKey, plaintext: Buffer, aad: string): Buffer {
  const keyId = Buffer.from(masterKey.id);
  const header = Buffer.concat([Buffer.from([VERSION, keyId.length]), keyId]);
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', masterKey.key, nonce);
  cipher.setAAD(Buffer.concat([header, Buffer.from(aad)]));
  const data = Buffer.concat([cipher.update(plaintext), cipher.final()]);
  return Buffer.concat([header, nonce, cipher.getAuthTag(), data]);
}

function open(key: Buffer, box: Box, aad: string): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, box.nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.concat([box.header, Buffer.from(aad)]));
  decipher.setAuthTag(box.tag);
  try {
    return Buffer.concat([decipher.update(box.data), decipher.final()]);
  } catch {
    throw new SecretBoxError('not-authentic', 'The box was changed, belongs elsewhere, or its key has another content');
  }
}

function parse(bytes: Buffer): Box {
  const [version, keyIdLength = 0] = bytes;
  const nonceAt = 2 + keyIdLength;
  const dataAt = nonceAt + NONCE_BYTES + TAG_BYTES;
  if (version !== VERSION) throw new SecretBoxError('malformed', 'The box has no known version');
  if (keyIdLength === 0 || bytes.length < dataAt) throw new SecretBoxError('malformed', 'The box is cut short');
  return {
    keyId: bytes.subarray(2, nonceAt).toString(),
    header: bytes.subarray(0, nonceAt),
    nonce: bytes.subarray(nonceAt, nonceAt + NONCE_BYTES),
    tag: bytes.subarray(nonceAt + NONCE_BYTES, dataAt),
    data: bytes.subarray(dataAt),
  };
}

/** Distinguishes data keys without giving anything away: a hash of 256 random bits cannot be inverted. */
function dataKeyId(dataKey: Buffer): string {
  return createHash('sha256').update('data key id').update(dataKey).digest('hex').slice(0, 8);
}

function assertDataKey(dataKey: Buffer): void {
  if (dataKey.length !== KEY_BYTES) throw new Error(`A data key has ${KEY_BYTES} bytes`);
}
