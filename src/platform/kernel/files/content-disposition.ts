/** The type of a download: a browser saves it, whatever type the file has. */
export const DOWNLOAD_TYPE = 'application/octet-stream';

/** Returns the header with the quoted file name, and the extended form if a header cannot carry all its characters. */
export function contentDisposition(name: string): string {
  const plain = name.replaceAll(/[^\x20-\x7e]|["\\]/g, '_');
  const extended = plain === name ? '' : `; filename*=UTF-8''${percentEncoded(name)}`;
  return `attachment; filename="${plain}"${extended}`;
}

/** Encodes a name by RFC 8187, which also encodes some characters that encodeURIComponent leaves. */
function percentEncoded(name: string): string {
  return encodeURIComponent(Buffer.from(name).toString()).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
