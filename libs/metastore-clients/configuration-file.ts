/** Maximum size of a configuration file, bytes of UTF-8. */
export const MAX_FILE_BYTES = 256 * 1024;

/** A configuration file is refused. The message is for users: it names the file and contains none of its values. */
export class ConfigurationFileError extends Error {
  constructor(
    readonly file: string,
    readonly reason: string,
  ) {
    super(`${file}: ${reason}`);
    this.name = 'ConfigurationFileError';
  }
}

/** A server in a configuration file. */
export interface HostPort {
  host: string;
  port: number;
}

const HOST = /^(?=.{1,253}$)[A-Za-z0-9]([A-Za-z0-9_-]{0,62})(\.[A-Za-z0-9]([A-Za-z0-9_-]{0,62}))*\.?$/;
const ADDRESS_6 = /^\[[0-9A-Fa-f:.]{2,45}\]$/;

/** Parses `host`, `host:port` or `[IPv6]:port`; returns null for anything else, and IPv6 addresses without brackets. */
export function parseHostPort(text: string, defaultPort: number | null): HostPort | null {
  const [, host = '', port] = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/.exec(text) ?? [];
  const number = port === undefined ? defaultPort : Number(port);
  if (number === null || number < 1 || number > 65_535) return null;
  if (ADDRESS_6.test(host)) return { host: host.slice(1, -1), port: number };
  return HOST.test(host) ? { host, port: number } : null;
}

/** Throws if the text is larger than {@link MAX_FILE_BYTES}. */
export function assertFileSize(file: string, text: string): void {
  if (Buffer.byteLength(text) <= MAX_FILE_BYTES) return;
  throw new ConfigurationFileError(file, `it is larger than ${MAX_FILE_BYTES / 1024} KiB.`);
}
