/**
 * Options with which a JVM starts quickly and compiles quickly, but not well: one of some seconds ends before the optimizing compiler
 * pays off, which takes half of its processor time.
 */
export const QUICK_JAVA = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'];
