/**
 * The option by which a JVM maps Spark's classes from an archive that was made of the same jars, which about halves the
 * start-up time of drivers, executors and daemons; nothing if there is none. A JVM that cannot use it goes on without
 * it.
 */
export function classArchiveOption(archive: string | null): string[] {
  return archive === null ? [] : [`-XX:SharedArchiveFile=${archive}`];
}
