/** Asks the domain that keeps bytes of its own in the store of files which of them it needs. */
export abstract class BlobUse {
  /** Answers those of the keys whose bytes are needed. */
  abstract keysInUse(keys: readonly string[]): Promise<Set<string>>;
}
