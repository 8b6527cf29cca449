import { createPrivateKey } from 'node:crypto';

/** Whether a text is a private key in PEM form. */
export function isPrivateKey(text: string): boolean {
  try {
    createPrivateKey(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * The bytes of standard base64 (RFC 4648, section 4); null for any other text. Line breaks and blanks may be anywhere, since
 * `base64` breaks its output into lines, and padding may be left out.
 */
export function bytesOfBase64(text: string): Buffer | null {
  const written = text.replaceAll(/\s+/g, '');
  const bytes = Buffer.from(written, 'base64');
  const padded = bytes.toString('base64');
  return padded === written || padded.replace(/=+$/, '') === written ? bytes : null;
}
