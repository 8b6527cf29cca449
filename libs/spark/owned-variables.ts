/** Environment variables that the platform starts Spark with, or that change what programs do. `*` ends a prefix. */
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

/** Returns true if the platform owns the environment variable, so that no secret can be its value. */
export function isOwnedVariable(name: string): boolean {
  return OWNED.some((own) => (own.endsWith('*') ? name.startsWith(own.slice(0, -1)) : name === own));
}
