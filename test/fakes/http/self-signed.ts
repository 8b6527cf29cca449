import { generateKeyPairSync, sign } from 'node:crypto';

/** A server's private key and certificate, both PEM. */
export interface ServerIdentity {
  key: string;
  cert: string;
}

const DAY_MS = 86_400_000;

// Object identifiers in DER.
const ECDSA_WITH_SHA256 = '06082a8648ce3d040302';
const COMMON_NAME = '0603550403';
const BASIC_CONSTRAINTS = '0603551d13';
const SUBJECT_ALT_NAME = '0603551d11';
const TRUE = '0101ff';

/** Creates a self-signed certificate of `127.0.0.1` and `localhost`, valid for a day, as hypervisors have. */
export function selfSigned(): ServerIdentity {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = der(0x30, der(0x31, der(0x30, hex(COMMON_NAME), der(0x0c, Buffer.from('localhost')))));
  const algorithm = der(0x30, hex(ECDSA_WITH_SHA256));
  const names = der(0x30, der(0x82, Buffer.from('localhost')), der(0x87, Buffer.from([127, 0, 0, 1])));
  const extensions = der(
    0x30,
    der(0x30, hex(BASIC_CONSTRAINTS), hex(TRUE), der(0x04, der(0x30, hex(TRUE)))),
    der(0x30, hex(SUBJECT_ALT_NAME), der(0x04, names)),
  );
  const content = der(
    0x30,
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    algorithm,
    name,
    der(0x30, time(Date.now() - DAY_MS), time(Date.now() + DAY_MS)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, extensions),
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', content, privateKey));
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: pem(der(0x30, content, algorithm, signature)),
  };
}

/** Encodes one DER element with the tag. */
function der(tag: number, ...content: Buffer[]): Buffer {
  const body = Buffer.concat(content);
  const { length } = body;
  const head = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...head]), body]);
}

function hex(text: string): Buffer {
  return Buffer.from(text, 'hex');
}

/** Encodes a UTCTime: `YYMMDDhhmmssZ`. */
function time(at: number): Buffer {
  const digits = new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');
  return der(0x17, Buffer.from(digits.replaceAll(/[-:T]/g, '').slice(2)));
}

function pem(certificate: Buffer): string {
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}
