/**
 * Maps an archive where its pointers need no change, so that all JVMs of a node share the pages of the file. By default, Java 17 maps it at
 * a random address and rewrites its pointers, which makes 120 MB private to each JVM. This hardening is given up, because the code of a
 * job runs inside the JVM in any case.
 */
const AT_ITS_OWN_ADDRESS = ['-XX:+UnlockDiagnosticVMOptions', '-XX:ArchiveRelocationMode=0'];

/**
 * A JVM that cannot use an archive starts without it. It would say so among the output of the job, and an entry in front of the class
 * path is reason enough.
 */
const SILENT = '-Xlog:cds=off,cds+dynamic=off';

/**
 * Returns the options that make a JVM map Spark's classes from an archive of the same jars; none without an archive. The archive about
 * halves the start-up time of drivers, executors and daemons.
 */
export function classArchiveOptions(archive: string | null): string[] {
  return archive === null ? [] : [`-XX:SharedArchiveFile=${archive}`, ...AT_ITS_OWN_ADDRESS, SILENT];
}
