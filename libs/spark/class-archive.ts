/**
 * Maps an archive where its pointers need no change, so that the pages are those of the file, and all JVMs of a node share them. By itself,
 * Java maps it elsewhere each time and rewrites 120 MB for each JVM, so that its addresses cannot be guessed. Code of a job runs inside
 * the JVM, so it need not guess.
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
