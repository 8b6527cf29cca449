import { shellQuoted } from './shell-quoted';

export const DRIVER_PYTHON = 'spark.pyspark.driver.python';
const PYTHON = 'spark.pyspark.python';

/**
 * Returns the Python that Spark would start a driver with, in Spark's own order of precedence.
 * @param property returns the value that the user or the node sets for a property; null if it is not set
 */
export function pythonOf(property: (key: string) => string | null, env: Readonly<Record<string, string>>): string {
  const candidates = [property(DRIVER_PYTHON), property(PYTHON), env['PYSPARK_DRIVER_PYTHON'], env['PYSPARK_PYTHON']];
  return candidates.find((one) => one != null && one !== '') ?? 'python3';
}

/**
 * Returns a wrapper for the driver's Python, and the property that names it. Spark merges the streams of a Python driver into its own
 * stdout, so the wrapper reopens the stderr of its parent process: Java passes on no other file descriptors. If it cannot be opened,
 * the streams stay merged.
 */
export function driverPython(python: string, path: string) {
  const name = shellQuoted(python);
  const content = `#!/bin/sh
stderr="/proc/$PPID/fd/2"
if { true 2>>"$stderr"; } 2>/dev/null; then exec 2>>"$stderr"; fi
if ! command -v ${name} >/dev/null; then
  printf 'The Python of the driver, %s, is not a program on the node.\\n' ${name} >&2
  exit 127
fi
exec ${name} "$@"
`;
  return { property: `${DRIVER_PYTHON}=${path}`, file: { path, content, isProgram: true } };
}

export const WARM_PYTHONS = ['apart', 'merged', 'serving'] as const;
export type WarmPython = (typeof WARM_PYTHONS)[number];

/**
 * Returns the program that takes the place of the driver's Python in a warm driver.
 * @param kind `merged` if the driver's stderr goes to its stdout, as Spark has it; `serving` for a program of `run-bridges` with a channel
 */
export function warmPython(paths: { generated: string }, kind: WarmPython = 'apart'): string {
  return kind === 'apart' ? driverPythonPath(paths) : `${driverPythonPath(paths)}-${kind}`;
}

/** Returns the path of the wrapper of the driver's Python, the same for warm and cold drivers: jobs can see it. */
export function driverPythonPath({ generated }: { generated: string }): string {
  return `${generated}/driver-python`;
}
