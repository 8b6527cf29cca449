/** What else lies in the store of files, asked of the domain that keeps it there. */
export abstract class BlobUse {
  /** Those of the keys whose bytes are needed. */
  abstract keysInUse(keys: readonly string[]): Promise<Set<string>>;
}
