const DRIVER_PYTHON = 'spark.pyspark.driver.python';
const PYTHON = 'spark.pyspark.python';

/**
 * The Python that Spark would start a driver with, in Spark's own order.
 * @param property what the user or the node gives a property; null if nothing
 */
export function pythonOf(property: (key: string) => string | null, env: Readonly<Record<string, string>>): string {
  const given = [property(DRIVER_PYTHON), property(PYTHON), env['PYSPARK_DRIVER_PYTHON'], env['PYSPARK_PYTHON']];
  return given.find((one) => one != null && one !== '') ?? 'python3';
}

/**
 * A program in the place of that Python, and the property that names it. Spark joins the streams of a Python driver into its own
 * stdout; this gives stderr back to it, which it finds by its parent, since Java hands on no other descriptors. Where it cannot,
 * the streams stay joined.
 */
export function driverPython(python: string, path: string) {
  const name = `'${python.replaceAll("'", `'\\''`)}'`;
  const content = `#!/bin/sh
stderr="/proc/$PPID/fd/2"
if { true 2>>"$stderr"; } 2>/dev/null; then exec 2>>"$stderr"; fi
if ! command -v ${name} >/dev/null; then
  printf 'The Python of the driver, %s, is no program on the node.\\n' ${name} >&2
  exit 127
fi
exec ${name} "$@"
`;
  return { property: `${DRIVER_PYTHON}=${path}`, file: { path, content, isProgram: true } };
}
