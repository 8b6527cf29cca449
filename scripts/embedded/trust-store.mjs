import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { rootCertificates } from 'node:tls';

/** Files in which systems keep the certificate authorities that a site trusts, in Java's format. */
export const SYSTEM_TRUST_STORES = ['/etc/ssl/certs/java/cacerts', '/etc/pki/java/cacerts'];

/** The same as PEM, which Java does not read. */
const SYSTEM_BUNDLES = ['/etc/ssl/certs/ca-certificates.crt', '/etc/pki/tls/certs/ca-bundle.crt'];

/** The well-known password protects no secret; it only detects accidental damage. */
const PASSWORD = 'changeit';

/**
 * Writes the certificate authorities that this system trusts, or else those of Node, as a file that Java reads.
 * @param {string} file
 * @param {{stores?: string[], bundles?: string[]}} [system] files to look for, in Java's format and as PEM
 */
export function writeTrustStore(file, { stores = SYSTEM_TRUST_STORES, bundles = SYSTEM_BUNDLES } = {}) {
  const ready = stores.find((path) => existsSync(path));
  const content = ready ? readFileSync(ready) : javaKeyStore(trustedCertificates(bundles));
  if (existsSync(file) && readFileSync(file).equals(content)) return;
  const draft = `${file}.${process.pid}`;
  try {
    writeFileSync(draft, content, { mode: 0o644 });
    renameSync(draft, file);
  } finally {
    rmSync(draft, { force: true });
  }
}

/**
 * @param {string[]} bundles
 * @returns {Buffer[]} certificates as DER
 */
function trustedCertificates(bundles) {
  const bundle = bundles.find((path) => existsSync(path));
  const text = bundle ? readFileSync(bundle, 'utf8') : rootCertificates.join('\n');
  const bodies = text.matchAll(/-----BEGIN CERTIFICATE-----([^-]+)-----END CERTIFICATE-----/g);
  return [...bodies].map(([, body = '']) => Buffer.from(body, 'base64'));
}

/**
 * Returns Java's own format (JKS, version 2) with nothing but trusted certificates.
 * @param {Buffer[]} certificates as DER
 */
function javaKeyStore(certificates) {
  const entries = certificates.map((der, index) =>
    Buffer.concat([uint32(2), text(`ca-${index}`), Buffer.alloc(8), text('X.509'), uint32(der.length), der]),
  );
  const content = Buffer.concat([uint32(0xfeedfeed), uint32(2), uint32(entries.length), ...entries]);
  const password = Buffer.from(PASSWORD, 'utf16le').swap16();
  const digest = createHash('sha1').update(password).update('Mighty Aphrodite').update(content).digest();
  return Buffer.concat([content, digest]);
}

/** @param {number} value */
function uint32(value) {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** @param {string} value */
function text(value) {
  const bytes = Buffer.from(value, 'utf8');
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return Buffer.concat([length, bytes]);
}
