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

/** The bytes of padded standard base64; null for any other text. */
export function bytesOfBase64(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : null;
}
