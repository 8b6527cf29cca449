import type { RunKind } from '../contracts/agent-protocol';
import { classifyEnd, type ProcessEnd } from './run-end';

const end = (kind: RunKind, exitCode: number | null, rest: Partial<ProcessEnd>): ReturnType<typeof classifyEnd> =>
  classifyEnd({ kind, exitCode, signal: null, stdoutTail: '', stderrTail: '', ...rest });

const PYTHON = `Traceback (most recent call last):
  File "/x/fail.py", line 3, in <module>
    print(1 / 0)
ZeroDivisionError: division by zero
`;

const PY4J = `Traceback (most recent call last):
  File "/x/fail.py", line 3, in <module>
    print(rdd.collect())
  File "/spark/python/lib/py4j-0.10.9.7-src.zip/py4j/protocol.py", line 326, in get_return_value
py4j.protocol.Py4JJavaError: An error occurred while calling z:org.apache.spark.api.python.PythonRDD.collectAndServe.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 0.0 failed 1 times
\tat org.apache.spark.scheduler.DAGScheduler.failJobAndIndependentStages(DAGScheduler.scala:2856)
`;

/** Spark logs this after the last line of a Python driver that had a session. */
const FAREWELL = `26/11/26 14:41:19 INFO SparkContext: Invoking stop() from shutdown hook
26/11/26 14:41:19 INFO ShutdownHookManager: Deleting directory /tmp/spark-1
`;

/** A failed task that the driver survived. */
const LOST_TASK = `26/11/26 14:41:18 WARN TaskSetManager: Lost task 0.0 in stage 0.0 (TID 0) (h executor driver): boom
org.apache.spark.api.python.PythonException: Traceback (most recent call last):
  File "/x/fail.py", line 3, in f
ValueError: once
\tat org.apache.spark.api.python.BasePythonRunner$ReaderIterator.handlePythonException(PythonRunner.scala:572)
`;

const JAVA = `26/11/21 02:47:16 WARN NativeCodeLoader: Unable to load native-hadoop library
Exception in thread "main" java.lang.IllegalStateException: boom
\tat T.main(T.java:2)
\tat org.apache.spark.deploy.JavaMainApplication.start(SparkApplication.scala:52)
Caused by: java.io.IOException: disk
\tat T.main(T.java:1)
26/11/21 02:47:17 INFO ShutdownHookManager: Shutdown hook called
`;

const SCALA = `driver.scala:22: error: type mismatch;
 found   : String("s")
 required: Int
val x: Int = "s"
             ^
The statement at line 3 failed.
`;

const MISSING_JAR = `26/11/21 02:47:16 WARN DependencyUtils: Local jar /x/a.jar does not exist, skipping.
Error: Failed to load class T.
`;

const BROKEN_JAR = `scala.reflect.internal.FatalError: Error accessing /x/staging/0/text.jar
\tat scala.reflect.io.FileZipArchive.scala$reflect$io$FileZipArchive$$openZipFile(ZipArchive.scala:190)
\tat scala.reflect.io.FileZipArchive.root$lzycompute(ZipArchive.scala:238)
\t... 43 more
Caused by: java.util.zip.ZipException: zip END header not found
\tat java.base/java.util.zip.ZipFile$Source.findEND(ZipFile.java:1637)
\t... 52 more
`;

const BROKEN_ARCHIVE = `Traceback (most recent call last):
  File "/x/fail.py", line 2, in <module>
    sc=SparkContext.getOrCreate()
       ^^^^^^^^^^^^^^^^^^^^^^^^^^
py4j.protocol.Py4JJavaError: An error occurred while calling None.org.apache.spark.api.java.JavaSparkContext.
: java.util.zip.ZipException: zip END header not found
\tat java.base/java.util.zip.ZipFile$Source.findEND(ZipFile.java:1637)
\tat org.apache.hadoop.fs.FileUtil.unZip(FileUtil.java:667)
\tat org.apache.spark.util.Utils$.unpack(Utils.scala:514)
\tat org.apache.spark.SparkContext.addFile(SparkContext.scala:1811)
`;

/** Two statements were done. */
const SQL_BEGIN = `26/11/23 11:33:20 WARN ObjectStore: Failed to get database default, returning NoSuchObjectException
Spark master: local[1], Application Id: local-1795433597914
Time taken: 1.508 seconds, Fetched 1 row(s)
Time taken: 0.069 seconds
`;

const UNPARSED = `
[PARSE_SYNTAX_ERROR] Syntax error at or near 'range'.(line 3, pos 24)

== SQL ==
SELECT id,

  concat('x;y', id) FRO range(3) WHERE a > '^^^'
------------------------^^^

`;

const DIVIDED = `[DIVIDE_BY_ZERO] Division by zero. Use \`try_divide\` to tolerate divisor being 0 and return NULL instead. If necessary set "spark.sql.ansi.enabled" to "false" to bypass this error.
== SQL(line 3, position 3) ==
  1/0 AS x
  ^^^

org.apache.spark.SparkArithmeticException: [DIVIDE_BY_ZERO] Division by zero. Use \`try_divide\` to tolerate divisor being 0 and return NULL instead. If necessary set "spark.sql.ansi.enabled" to "false" to bypass this error.
== SQL(line 3, position 3) ==
  1/0 AS x
  ^^^

\tat org.apache.spark.sql.errors.QueryExecutionErrors$.divideByZeroError(QueryExecutionErrors.scala:206)
`;

const RAISED = `26/11/23 11:45:37 ERROR Executor: Exception in task 0.0 in stage 1.0 (TID 1)
java.lang.RuntimeException: no; way
\tat org.apache.spark.scheduler.Task.run(Task.scala:141)
26/11/23 11:45:37 ERROR TaskSetManager: Task 0 in stage 1.0 failed 1 times; aborting job
Job aborted due to stage failure: Task 0 in stage 1.0 failed 1 times, most recent failure: Lost task 0.0 in stage 1.0 (TID 1) (localhost executor driver): java.lang.RuntimeException: no; way
org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 1.0 failed 1 times, most recent failure: Lost task 0.0 in stage 1.0 (TID 1) (localhost executor driver): java.lang.RuntimeException: no; way
\tat org.apache.spark.scheduler.Task.run(Task.scala:141)
Caused by: java.lang.RuntimeException: no; way
\tat org.apache.spark.scheduler.Task.run(Task.scala:141)
`;

const UNREADABLE_HEAP = `Invalid maximum heap size: -Xmx1.5g
Error: Could not create the Java Virtual Machine.
Error: A fatal exception has occurred. Program will exit.
`;

const SMALL_HEAP = `Error occurred during initialization of VM
Too small maximum heap
`;

describe('classifyEnd', () => {
  it('calls exit code 0 done, whatever the output', () => {
    expect(end('python', 0, { stdoutTail: PYTHON })).toMatchObject({ outcome: 'done', reason: 'COMPLETED' });
  });

  it.each<[string, RunKind, number | null, Partial<ProcessEnd>, string, string, string]>([
    [
      'a Python error',
      'python',
      1,
      { stderrTail: PYTHON },
      'error',
      'PYTHON_ERROR',
      'ZeroDivisionError: division by zero. The stderr log has the traceback.',
    ],
    [
      'a memory that Java cannot read',
      'python',
      1,
      { stderrTail: UNREADABLE_HEAP },
      'error',
      'SUBMIT_FAILED',
      'Java did not start: Invalid maximum heap size: -Xmx1.5g. Correct driver_memory, written as 512m or 2g, or driver_java_options.',
    ],
    [
      'a memory that Java does not begin with',
      'jar',
      1,
      { stderrTail: SMALL_HEAP },
      'error',
      'SUBMIT_FAILED',
      'Java did not start: Too small maximum heap. Correct driver_memory, written as 512m or 2g, or driver_java_options.',
    ],
    [
      'what Java said behind py4j',
      'python',
      1,
      { stderrTail: PY4J },
      'error',
      'PYTHON_ERROR',
      'org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 0.0 failed 1 times. The stderr log has the traceback.',
    ],
    [
      'what a Python worker said behind both',
      'python',
      1,
      {
        stderrTail: PY4J.replace(
          /1 times\n/,
          '1 times: PythonException: Traceback (most recent call last):\n  File "/x", line 3\nZeroDivisionError: division by zero\n',
        ),
      },
      'error',
      'PYTHON_ERROR',
      'org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 0.0 failed 1 times: PythonException: ZeroDivisionError: division by zero. The stderr log has the traceback.',
    ],
    [
      'the last of several Python errors',
      'python',
      1,
      {
        stderrTail: `${PYTHON}\nDuring handling of the above exception, another exception occurred:\n\n${PYTHON.replace('ZeroDivisionError: division by zero', 'my.errors.Bad')}`,
      },
      'error',
      'PYTHON_ERROR',
      'my.errors.Bad. The stderr log has the traceback.',
    ],
    [
      'a Python syntax error',
      'python',
      1,
      { stderrTail: '  File "/x/a.py", line 1\n    print(\n         ^\nSyntaxError: \'(\' was never closed\n' },
      'error',
      'PYTHON_ERROR',
      "SyntaxError: '(' was never closed. The stderr log has the traceback.",
    ],
    [
      'a Java exception and its cause',
      'jar',
      1,
      { stderrTail: JAVA },
      'error',
      'APPLICATION_FAILED',
      'java.lang.IllegalStateException: boom (caused by java.io.IOException: disk)',
    ],
    [
      'a Scala compile error',
      'raw-scala',
      1,
      { stderrTail: SCALA },
      'error',
      'APPLICATION_FAILED',
      'Compile error: type mismatch; found: String("s") required: Int',
    ],
    [
      'an exception of the interpreter',
      'raw-scala',
      1,
      {
        stderrTail:
          'java.lang.RuntimeException: no\n  at f(<console>:25)\n  ... 40 elided\nThe statement at line 3 failed.\n',
      },
      'error',
      'APPLICATION_FAILED',
      'java.lang.RuntimeException: no',
    ],
    [
      'an exception of the interpreter without frames',
      'raw-scala',
      1,
      { stderrTail: 'java.lang.IllegalStateException: kaputt\n  ... 51 elided\nThe statement at line 2 failed.\n' },
      'error',
      'APPLICATION_FAILED',
      'java.lang.IllegalStateException: kaputt',
    ],
    [
      'an SQL error',
      'sql',
      1,
      { stderrTail: 'Time taken: 1.2 seconds\n[TABLE_OR_VIEW_NOT_FOUND] The table or view `nope` cannot be found.\n' },
      'error',
      'SQL_ERROR',
      '[TABLE_OR_VIEW_NOT_FOUND] The table or view `nope` cannot be found. Correct the statement.',
    ],
    [
      'where an SQL error is',
      'sql',
      1,
      {
        stderrTail:
          "[TABLE_OR_VIEW_NOT_FOUND] The table or view `nope` cannot be found.\nIf you did not qualify the name with a schema, verify it.\nTo tolerate the error use DROP TABLE IF EXISTS.; line 2 pos 5;\n'Project [*]\n",
      },
      'error',
      'SQL_ERROR',
      '[TABLE_OR_VIEW_NOT_FOUND] The table or view `nope` cannot be found (line 2 pos 5 of the statement). Correct the statement.',
    ],
    [
      'an application file that is not there',
      'python',
      2,
      { stderrTail: "/usr/bin/python3: can't open file '/x/a.py': [Errno 2] No such file or directory\n" },
      'error',
      'FILE_NOT_FOUND',
      'The application file /x/a.py does not exist. Upload it, or correct its path.',
    ],
    [
      'a jar that is not there',
      'jar',
      101,
      { stderrTail: MISSING_JAR },
      'error',
      'FILE_NOT_FOUND',
      'Local jar /x/a.jar does not exist. Upload it, or correct its path.',
    ],
    [
      'a class that is not there',
      'jar',
      101,
      { stderrTail: 'Error: Failed to load class T.\n' },
      'error',
      'CLASS_NOT_FOUND',
      'Failed to load class T. Check class_name, and that the application, jars or packages are whole jar files and have the class.',
    ],
    [
      'a driver without heap',
      'jar',
      1,
      { stderrTail: 'Exception in thread "main" java.lang.OutOfMemoryError: Java heap space\n\tat T.main(T.java:3)\n' },
      'error',
      'OUT_OF_MEMORY',
      'Out of memory: java.lang.OutOfMemoryError: Java heap space. Raise driver_memory, or collect less data on the driver.',
    ],
    [
      "Spark's exit code for it",
      'jar',
      52,
      {},
      'error',
      'OUT_OF_MEMORY',
      'Out of memory: the driver ran out of heap. Raise driver_memory, or collect less data on the driver.',
    ],
    [
      'a server of SQL whose Spark has stopped without memory',
      'thrift',
      1,
      {
        stderrTail:
          'java.lang.OutOfMemoryError: Java heap space\n\tat x.T.main(T.java:3)\nSQL cannot be served: the SparkContext has stopped. The log says why.\n',
      },
      'error',
      'OUT_OF_MEMORY',
      'Out of memory: java.lang.OutOfMemoryError: Java heap space. Raise driver_memory, or collect less data on the driver.',
    ],
    [
      "a server of SQL whose Spark has ended with Spark's exit code for it",
      'thrift',
      1,
      { stderrTail: 'SQL cannot be served: the JVM of Spark has ended with exit code 52.\n' },
      'error',
      'OUT_OF_MEMORY',
      'Out of memory: the driver ran out of heap. Raise driver_memory, or collect less data on the driver.',
    ],
    [
      'a server of SQL whose Spark has stopped for another reason',
      'thrift',
      1,
      { stderrTail: 'SQL cannot be served: the SparkContext has stopped. The log says why.\n' },
      'error',
      'APPLICATION_FAILED',
      'the SparkContext has stopped. The log says why.',
    ],
    [
      'a server of SQL that got over a statement without memory',
      'thrift',
      1,
      {
        stderrTail:
          ': java.lang.OutOfMemoryError: Java heap space\nSQL cannot be served: there is no Spark session: gone\n',
      },
      'error',
      'APPLICATION_FAILED',
      'there is no Spark session: gone',
    ],
    [
      'a Python driver without memory',
      'python',
      1,
      { stderrTail: PYTHON.replace(/Zero.*/, 'MemoryError') },
      'error',
      'OUT_OF_MEMORY',
      'Out of memory: MemoryError. Raise driver_memory, or collect less data on the driver.',
    ],
    [
      'an executor without memory',
      'jar',
      1,
      {
        stderrTail: JAVA.replace(
          'java.lang.IllegalStateException: boom',
          'org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 0.0 failed 4 times, most recent failure: Lost task 0.5 in stage 0.0 (TID 5) (10.0.0.1 executor 2): ExecutorLostFailure (executor 2 exited caused by one of the running tasks) Reason: Command exited with code 52',
        ).replace(/Caused by.*\n.*\n/, ''),
      },
      'error',
      'EXECUTOR_OUT_OF_MEMORY',
      'Out of memory: ExecutorLostFailure (executor 2 exited caused by one of the running tasks) Reason: Command exited with code 52. Raise executor_memory, or divide the data into more partitions.',
    ],
    [
      'another failure than the loss of an executor that came before',
      'jar',
      1,
      {
        stderrTail: `26/11/23 09:00:00 WARN TaskSetManager: Lost task 0.0 in stage 0.0 (TID 0) (10.0.0.1 executor 1): ExecutorLostFailure (executor 1 exited caused by one of the running tasks) Reason: Command exited with code 52\n${JAVA}`,
      },
      'error',
      'APPLICATION_FAILED',
      'java.lang.IllegalStateException: boom (caused by java.io.IOException: disk)',
    ],
    [
      'a package that is nowhere',
      'jar',
      1,
      {
        stderrTail:
          'Exception in thread "main" java.lang.RuntimeException: [unresolved dependency: com.example#absent;1.0: not found]\n\tat org.apache.spark.deploy.SparkSubmitUtils$.resolveMavenCoordinates(SparkSubmit.scala:1608)\n',
      },
      'error',
      'DEPENDENCY_UNRESOLVED',
      'unresolved dependency: com.example#absent;1.0: not found. Check packages and repositories, and that the node may reach them.',
    ],
    [
      'a jar that the interpreter cannot open',
      'raw-scala',
      1,
      { stderrTail: BROKEN_JAR },
      'error',
      'NOT_AN_ARCHIVE',
      'text.jar is not a zip file, or is incomplete: zip END header not found. Upload the whole file again, or correct its path.',
    ],
    [
      'an archive that Spark cannot unpack',
      'python',
      1,
      { stderrTail: BROKEN_ARCHIVE },
      'error',
      'NOT_AN_ARCHIVE',
      'One of the archives is not a zip file, or is incomplete: zip END header not found. Upload the whole file again, or correct its path.',
    ],
    [
      'another zip file that the application cannot read',
      'python',
      1,
      { stderrTail: BROKEN_ARCHIVE.replace(/.*Utils.*\n/, '') },
      'error',
      'PYTHON_ERROR',
      'java.util.zip.ZipException: zip END header not found. The stderr log has the traceback.',
    ],
    [
      'a store that refuses',
      'jar',
      1,
      {
        stderrTail: JAVA.replace(
          'java.io.IOException: disk',
          'java.nio.file.AccessDeniedException: s3a://bucket/x: getFileStatus on s3a://bucket/x',
        ),
      },
      'error',
      'ACCESS_DENIED',
      'java.lang.IllegalStateException: boom (caused by java.nio.file.AccessDeniedException: s3a://bucket/x: getFileStatus on s3a://bucket/x). Check the credentials of the store, and what they permit.',
    ],
    [
      'a signal reported by the exit code',
      'python',
      137,
      {},
      'terminated',
      'SIGNALLED',
      'The driver was ended by SIGKILL, not by the platform. The machine may have run out of memory.',
    ],
    [
      'a signal that took the wrapper too',
      'python',
      null,
      { signal: 'SIGTERM' },
      'terminated',
      'SIGNALLED',
      'The driver was ended by SIGTERM, not by the platform.',
    ],
    [
      'an end of which nothing is known',
      'python',
      null,
      {},
      'terminated',
      'SIGNALLED',
      'The driver was ended without an exit code, not by the platform.',
    ],
    ['an exit code alone', 'python', 3, {}, 'error', 'APPLICATION_FAILED', 'The application ended with exit code 3.'],
    [
      'what sys.exit said before the farewell of Spark',
      'python',
      1,
      { stdoutTail: 'begin\n', stderrTail: `${LOST_TASK}bad input: 東\n${FAREWELL}` },
      'error',
      'APPLICATION_FAILED',
      'The application ended with exit code 1; its last line: bad input: 東',
    ],
    [
      'what argparse said',
      'python',
      2,
      { stderrTail: `usage: a.py [-h] --x X\na.py: error: the following arguments are required: --x\n${FAREWELL}` },
      'error',
      'APPLICATION_FAILED',
      'The application ended with exit code 2; its last line: a.py: error: the following arguments are required: --x',
    ],
    [
      'what was printed where stderr has nothing but what Spark and Ivy said',
      'python',
      3,
      {
        stdoutTail: 'one\ntwo\n\n',
        stderrTail: `:: loading settings :: file = /x\ng#a added as a dependency\n\t0 artifacts copied\n${FAREWELL}`,
      },
      'error',
      'APPLICATION_FAILED',
      'The application ended with exit code 3; its last line: two',
    ],
    [
      'the last error in a log of nothing else',
      'jar',
      3,
      { stdoutTail: 'one\n', stderrTail: `26/11/26 14:41:18 ERROR Main: no input\n${FAREWELL}` },
      'error',
      'APPLICATION_FAILED',
      'The application ended with exit code 3; its last line: Main: no input',
    ],
    [
      'a Python error that went to stdout',
      'python',
      1,
      { stdoutTail: PYTHON, stderrTail: FAREWELL },
      'error',
      'PYTHON_ERROR',
      'ZeroDivisionError: division by zero. The stdout log has the traceback.',
    ],
    [
      'an exit code and a line',
      'jar',
      3,
      { stderrTail: 'one\ntwo\n\n' },
      'error',
      'APPLICATION_FAILED',
      'The application ended with exit code 3; its last line: two',
    ],
  ])('classifies %s', (_name, kind, exitCode, rest, outcome, reason, message) => {
    expect(end(kind, exitCode, rest)).toEqual({ outcome, reason, message });
  });

  describe('of a SQL job', () => {
    const FAILED = 'Statement 3, which begins at line 5 pos 10, failed.\n';
    const sql = (said: string, failed = FAILED) =>
      end('sql', 1, { stdoutTail: '1\n', stderrTail: `${SQL_BEGIN}${said}${failed}` }).message;

    it('names a statement that cannot be analyzed by its number, with the position in the text of the job', () => {
      const said = `[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column or function parameter with name \`nope\` cannot be resolved. Did you mean one of the following? [\`id\`].; line 3 pos 7;
'Project ['nope]
+- Range (0, 3, step=1, splits=None)

`;
      expect(sql(said)).toBe(
        `Statement 3: [UNRESOLVED_COLUMN.WITH_SUGGESTION] A column or function parameter with name \`nope\` cannot be resolved. Did you mean one of the following? [\`id\`] (line 7 pos 7). Correct the statement.`,
      );
    });

    it('quotes one that cannot be parsed', () => {
      expect(sql(UNPARSED)).toBe(
        `Statement 3 (SELECT id, concat('x;y', id) FRO range(3) WHERE a > '^^^'): [PARSE_SYNTAX_ERROR] Syntax error at or near 'range' (line 7 pos 24). Correct the statement.`,
      );
    });

    it('quotes only the beginning of a long one', () => {
      const message = sql(UNPARSED.replace('SELECT id,', `SELECT ${'id, '.repeat(500)}`));
      expect(message).toMatch(/^Statement 3 \(SELECT (?:id, )+i?d?,?…\): \[PARSE_SYNTAX_ERROR\]/);
      expect(message.length).toBeLessThan(600);
    });

    it('names one that failed as it ran', () => {
      expect(sql(DIVIDED)).toBe(
        `Statement 3: [DIVIDE_BY_ZERO] Division by zero. Use \`try_divide\` to tolerate divisor being 0 and return NULL instead. If necessary set "spark.sql.ansi.enabled" to "false" to bypass this error (line 7 pos 3). Correct the statement.`,
      );
      expect(sql(RAISED)).toBe(
        'Statement 3: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 1.0 failed 1 times, most recent failure: Lost task 0.0 in stage 1.0 (TID 1) (localhost executor driver): java.lang.RuntimeException: no; way',
      );
    });

    it('counts positions in the first line of a statement from the beginning of that line', () => {
      expect(sql('[TABLE_OR_VIEW_NOT_FOUND] The table `a` cannot be found. Use IF EXISTS.; line 1 pos 14;\n')).toBe(
        'Statement 3: [TABLE_OR_VIEW_NOT_FOUND] The table `a` cannot be found. Use IF EXISTS (line 5 pos 24). Correct the statement.',
      );
    });

    it('names the statement of an included file', () => {
      const failed = `Statement 1 of lib/views.sql, which begins at line 2 pos 0, failed.\n${FAILED}`;
      expect(sql('[TABLE_OR_VIEW_NOT_FOUND] The table `a` cannot be found.; line 2 pos 4;\n', failed)).toBe(
        'Statement 1 of lib/views.sql: [TABLE_OR_VIEW_NOT_FOUND] The table `a` cannot be found (line 3 pos 4). Correct the statement.',
      );
    });

    it('quotes a long line of digits in time that grows with its length', () => {
      const quoted = `[PARSE_SYNTAX_ERROR] Syntax error.(line 1, pos 0)\n\n== SQL ==\nStatement ${'1'.repeat(4_000_000)}\n`;
      expect(sql(quoted)).toMatch(/^Statement 3 \(Statement 1+…\): \[PARSE_SYNTAX_ERROR\]/);
    });

    it('names no statement if the output names none', () => {
      expect(sql(DIVIDED, '')).toMatch(/^\[DIVIDE_BY_ZERO\].* \(line 3 pos 3 of the statement\)/);
    });
  });

  it('keeps the sentence one line and short', () => {
    const { message } = end('python', 1, { stdoutTail: PYTHON.replace('division', 'x'.repeat(5_000)) });
    expect(message.length).toBeLessThanOrEqual(600);
    expect(message).not.toContain('\n');
  });
});
