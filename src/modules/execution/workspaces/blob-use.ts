/** Asks the domain that stores its own bytes in the file store which of them it needs. */
export abstract class BlobUse {
  abstract keysInUse(keys: readonly string[]): Promise<Set<string>>;
}
