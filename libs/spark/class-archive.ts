/**
 * Returns the options that make a JVM map Spark's classes from an archive of the same jars; none without an archive. The archive about
 * halves the start-up time of drivers, executors and daemons. A JVM that cannot use it starts without it. By itself, it would say so
 * among the output of the job, and an entry in front of the class path is reason enough.
 */
export function classArchiveOptions(archive: string | null): string[] {
  return archive === null ? [] : [`-XX:SharedArchiveFile=${archive}`, '-Xlog:cds=off,cds+dynamic=off'];
}
