/** Environment variables by which the platform starts Spark, or which decide what programs do: names, and beginnings that end in `*`. */
const OWNED = [
  ...['SPARK_*', 'PYSPARK_*', 'HADOOP_*', 'YARN_*', 'PYTHON*', 'JAVA_*', 'JDK_*', '_JAVA_OPTIONS', 'CLASSPATH'],
  ...['LD_*', 'PATH', 'HOME', 'TMPDIR', 'SHELL', 'IFS', 'ENV', 'BASH*', 'LANG', 'LC_*', 'TZ', 'LOCALE*', 'GCONV_PATH'],
  ...[
    'USER',
    'LOGNAME',
    'UID',
    'EUID',
    'PPID',
    'PWD',
    'OLDPWD',
    'SHLVL',
    'SHELLOPTS',
    'PS1',
    'PS2',
    'PS4',
    'OPTIND',
    '_',
  ],
];

/** Whether an environment variable belongs to the platform, so that no secret can be its value. */
export function isOwnedVariable(name: string): boolean {
  return OWNED.some((own) => (own.endsWith('*') ? name.startsWith(own.slice(0, -1)) : name === own));
}
