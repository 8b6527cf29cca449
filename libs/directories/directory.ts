/** A group as a directory describes it. */
export interface DirectoryGroup {
  /** Stable id within the directory. */
  objectId: string;
  name: string;
  /** Unique within the directory; used if another group already has the name. */
  qualifiedName: string;
  mail: string | null;
  /** The directory's own word for this kind of group, such as `posixGroup`. */
  type: string | null;
}

/** A person as a directory describes it. */
export interface DirectoryUser {
  /** Stable id within the directory; null if users are identified by their names. */
  externalId: string | null;
  username: string;
  displayName: string | null;
  email: string | null;
  /** Every group of the person; null if the directory does not say. */
  groups: DirectoryGroup[] | null;
}

export interface DirectoryGroupWithMembers {
  group: DirectoryGroup;
  members: DirectoryUser[];
}

/** The directory cannot be reached or refuses the configured client. The message names the server and holds no secret. */
export class DirectoryUnavailableError extends Error {
  /** @param server host and port, or the issuer */
  constructor(
    readonly server: string,
    reason: string,
    options?: { cause?: unknown },
  ) {
    super(`${server} ${reason}`, options);
    this.name = 'DirectoryUnavailableError';
  }
}

/** The directory does not admit the person, or does not say who it is. The message is for the person. */
export class DirectoryRefusalError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'DirectoryRefusalError';
  }
}

const MAX_TEXT_LENGTH = 256;

/** A text that can be stored and shown: trimmed, not empty, of bounded length and without control characters. */
export function usableText(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const text = value.trim();
  // eslint-disable-next-line no-control-regex -- control characters are what is refused
  return text === '' || text.length > MAX_TEXT_LENGTH || /[\u0000-\u001f\u007f]/.test(text) ? null : text;
}
