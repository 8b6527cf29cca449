import { createPrivateKey } from 'node:crypto';

/** True if the text is a private key in PEM format. */
export function isPrivateKey(text: string): boolean {
  try {
    createPrivateKey(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Decodes standard base64 (RFC 4648, section 4); returns null for any other text. White space is allowed anywhere,
 * since the command `base64` wraps lines, and padding may be missing.
 */
export function bytesOfBase64(text: string): Buffer | null {
  const stripped = text.replaceAll(/\s+/g, '');
  const bytes = Buffer.from(stripped, 'base64');
  const padded = bytes.toString('base64');
  return padded === stripped || padded.replace(/=+$/, '') === stripped ? bytes : null;
}
