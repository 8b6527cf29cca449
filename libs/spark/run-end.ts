import type { RunKind, RunOutcome, RunReason } from '../contracts/agent-protocol';

/** The end of a run's process, with the tail of its output. */
export interface ProcessEnd {
  kind: RunKind;
  /** Null when no exit code is known. */
  exitCode: number | null;
  /** Signal that ended it, when known. */
  signal: string | null;
  stdoutTail: string;
  stderrTail: string;
}

/** The verdict on an ended run. */
export interface RunEnd {
  outcome: RunOutcome;
  reason: RunReason;
  message: string;
}

const MAX_MESSAGE_BYTES = 600;
const MAX_QUOTE_LENGTH = 200;

/** Spark's hints about a SQL error are shorter. */
const MAX_ADVICE_LINES = 8;
const SIGNALS: Record<number, string> = {
  1: 'SIGHUP',
  2: 'SIGINT',
  6: 'SIGABRT',
  9: 'SIGKILL',
  11: 'SIGSEGV',
  15: 'SIGTERM',
};
/** SparkExitCode.OOM. */
const SPARK_OUT_OF_MEMORY = 52;

/** Tells the user what to do, for the reasons that allow it. */
const ADVICE: Partial<Record<RunReason, string>> = {
  SQL_ERROR: 'Correct the statement.',
  // Spark skips a jar that it cannot read.
  CLASS_NOT_FOUND:
    'Check class_name, and that the application, jars or packages are whole jar files and have the class.',
  FILE_NOT_FOUND: 'Upload it, or correct its path.',
  NOT_AN_ARCHIVE: 'Upload the whole file again, or correct its path.',
  DEPENDENCY_UNRESOLVED: 'Check packages and repositories, and that the node may reach them.',
  ACCESS_DENIED: 'Check the credentials of the store, and what they permit.',
  OUT_OF_MEMORY: 'Raise driver_memory, or collect less data on the driver.',
  EXECUTOR_OUT_OF_MEMORY: 'Raise executor_memory, or divide the data into more partitions.',
};

/** Classifies the end of a run that nobody stopped. */
export function classifyEnd(end: ProcessEnd): RunEnd {
  if (end.exitCode === 0) return { outcome: 'done', reason: 'COMPLETED', message: 'The application completed.' };
  // stderr comes last because the last error counts.
  const output = `${end.stdoutTail}\n${end.stderrTail}`;
  const evidence = { end, output, error: reportedError(output, end.kind) };
  for (const cause of CAUSES) {
    const found = cause(evidence);
    if (found) return found;
  }
  return exited(end);
}

interface Evidence {
  end: ProcessEnd;
  output: string;
  error: ReportedError | null;
}

/** The first cause that matches is the reason why a run ended. */
const CAUSES: readonly ((evidence: Evidence) => RunEnd | null)[] = [
  servingEnded,
  // Searches only the error that ended the application, which may have survived the loss of executors before.
  ({ output, error }) => because('EXECUTOR_OUT_OF_MEMORY', executorOutOfMemory(error?.text ?? output)),
  ({ end, output, error }) => because('OUT_OF_MEMORY', outOfMemory(end, output, error?.text ?? null)),
  ({ output }) => because('FILE_NOT_FOUND', missingApplication(output)),
  ({ end }) => signalled(end),
  ({ output }) => because('DEPENDENCY_UNRESOLVED', /unresolved dependency: [^\]\n]+/.exec(output)?.[0]),
  ({ output }) => because('CLASS_NOT_FOUND', /^Error: (Failed to load class .*)$/m.exec(output)?.[1]),
  ({ output }) => because('SUBMIT_FAILED', submitError(output)),
  ({ output, error }) => because('NOT_AN_ARCHIVE', error && notAnArchive(error, output)),
  ({ end, error }) =>
    error && verdict('error', reasonOf(error), `${failedStatement(end)}${error.text}`, adviceAbout(error, end)),
  ({ output }) => javaRefused(output),
];

const TRACEBACK = 'Traceback (most recent call last):';

/** Names the log with the details of the error; undefined if there are none, or if the reason has other advice. */
function adviceAbout(error: ReportedError, { stdoutTail, stderrTail }: ProcessEnd): string | undefined {
  if (reasonOf(error) !== 'PYTHON_ERROR') return undefined;
  const isInStdout = stdoutTail.includes(TRACEBACK) && !stderrTail.includes(TRACEBACK);
  return `The ${isInStdout ? 'stdout' : 'stderr'} log has the traceback.`;
}

/** A function or SQL server prints why it ends. If Spark ended first, the log may show that it ran out of memory. */
function servingEnded({ end, output }: Evidence): RunEnd | null {
  if (end.kind !== 'function' && end.kind !== 'thrift') return null;
  const said = lastOf(output, /^(?:The function|SQL) cannot be served: (.+)$/gm);
  const [isOfSpark, code] =
    /^the (?:JVM of Spark has ended(?: with exit code (\d+))?|SparkContext has stopped)/.exec(said ?? '') ?? [];
  const exitCode = code === undefined ? null : Number(code);
  const lack = isOfSpark === undefined ? null : outOfMemory({ ...end, exitCode }, output, null);
  return because('OUT_OF_MEMORY', lack) ?? because('APPLICATION_FAILED', said);
}

/** Returns the end of a run that names a file which is not a jar. */
export function notAJar(name: string): RunEnd {
  return verdict('error', 'NOT_AN_ARCHIVE', `${name} is not a jar file, or is incomplete`);
}

/** Returns the group of the pattern's last match. */
function lastOf(text: string, pattern: RegExp): string | undefined {
  return [...text.matchAll(pattern)].at(-1)?.[1];
}

function because(reason: RunReason, text: string | null | undefined): RunEnd | null {
  return typeof text === 'string' ? verdict('error', reason, text) : null;
}

function signalled({ exitCode, signal }: ProcessEnd): RunEnd | null {
  const name = signal ?? SIGNALS[(exitCode ?? 0) - 128];
  if (name === undefined && exitCode !== null) return null;
  const hint = name === 'SIGKILL' ? ' The machine may have run out of memory.' : '';
  const by = name === undefined ? 'without an exit code' : `by ${name}`;
  return verdict('terminated', 'SIGNALLED', `The driver was ended ${by}, not by the platform.${hint}`);
}

function exited({ exitCode, stdoutTail, stderrTail }: ProcessEnd): RunEnd {
  const last = lastWord(stderrTail) ?? lastLine(stdoutTail);
  const code = `The application ended with exit code ${exitCode}`;
  return verdict('error', 'APPLICATION_FAILED', last === null ? `${code}.` : `${code}; its last line: ${last}`);
}

function verdict(
  outcome: RunOutcome,
  reason: RunReason,
  text: string,
  advice: string | undefined = ADVICE[reason],
): RunEnd {
  if (advice === undefined) return { outcome, reason, message: shorten(text, MAX_MESSAGE_BYTES) };
  const said = shorten(text, MAX_MESSAGE_BYTES - advice.length - 2);
  return { outcome, reason, message: `${said}${/[.!?…]$/.test(said) ? '' : '.'} ${advice}` };
}

const CLASS_NOT_FOUND = /\bjava\.lang\.(?:ClassNotFoundException|NoClassDefFoundError)\b/;

/** Errors of stores and their clients that mean missing permission. */
const ACCESS_DENIED =
  /AccessDeniedException|AccessControlException|\bAccess Denied\b|\b403 Forbidden|Status Code: 403|InvalidAccessKeyId|SignatureDoesNotMatch|AuthorizationPermissionMismatch|AuthenticationFailed|does not have storage\.\S+ access/;

function reasonOf({ by, text }: ReportedError): RunReason {
  if (ACCESS_DENIED.test(text)) return 'ACCESS_DENIED';
  if (CLASS_NOT_FOUND.test(text)) return 'CLASS_NOT_FOUND';
  if (by === 'sql') return 'SQL_ERROR';
  return by === 'python' ? 'PYTHON_ERROR' : 'APPLICATION_FAILED';
}

/** Returns the last report of an executor without memory. In local mode the driver is the executor, which does not count. */
function executorOutOfMemory(output: string): string | null {
  const ends = /ExecutorLostFailure \(executor \d+ exited.*?(?:code 52\b|code 137\b|OutOfMemory|memory limits).*$/gm;
  const lost = output.match(ends)?.at(-1);
  if (lost !== undefined) return `Out of memory: ${lost}`;
  const tasks = /\(TID \d+\) \(\S+ (executor \d+)\): ((?:java\.lang\.OutOfMemoryError|\S*SparkOutOfMemoryError).*)$/gm;
  const [, executor, error] = [...output.matchAll(tasks)].at(-1) ?? [];
  return error === undefined ? null : `Out of memory: ${error} in ${executor}`;
}

function outOfMemory(end: ProcessEnd, output: string, message: string | null): string | null {
  const isOutOfMemory = message !== null && /^(?:MemoryError\b|java\.lang\.OutOfMemoryError)/.test(message);
  const java = /^.*java\.lang\.OutOfMemoryError.*$/m.exec(output)?.[0];
  const coded = end.exitCode === SPARK_OUT_OF_MEMORY ? 'the driver ran out of heap' : null;
  const said = isOutOfMemory ? message : (java ?? coded);
  return said === null ? null : `Out of memory: ${clean(said)}`;
}

interface ReportedError {
  by: 'python' | 'sql' | 'jvm';
  text: string;
}

/** Returns the application's own error, the most specific first. */
function reportedError(output: string, kind: RunKind): ReportedError | null {
  const said: [ReportedError['by'], string | null][] = [
    ['python', pythonError(output)],
    ['sql', sqlError(output)],
    // A Python driver repeats the errors of Java that it did not handle, so only the main thread's count besides.
    ['jvm', scalaError(output) ?? javaError(output, kind === 'python')],
  ];
  for (const [by, text] of said) if (text !== null) return { by, text };
  return null;
}

/** Returns the last line of the last Python traceback; Java's message if Python only passes that on. */
function pythonError(output: string): string | null {
  const start = output.lastIndexOf(`\n${TRACEBACK}`);
  const from = start < 0 && output.startsWith(TRACEBACK) ? 0 : start;
  if (from < 0 || (start < 0 && from !== 0)) {
    return /^(?:SyntaxError|IndentationError|TabError): .*$/m.exec(output)?.[0] ?? null;
  }
  const lines = output.slice(from).trimStart().split('\n').slice(1);
  const at = lines.findIndex((line) => /^[A-Za-z_][\w.]*(?::|$)/.test(line));
  const line = lines[at];
  if (line === undefined) return null;
  const next = lines[at + 1];
  if (!line.startsWith('py4j.protocol.Py4JJavaError') || !next?.startsWith(': ')) return line;
  // An error of a Python worker: Java shows the head of its traceback, but the last line says more.
  const head = /Traceback \(most recent call last\):$/;
  const worker = head.test(next) ? lines.slice(at + 2).find((text) => /^[A-Za-z_][\w.]*(?::|$)/.test(text)) : undefined;
  return worker === undefined ? next.slice(2) : next.slice(2).replace(head, worker);
}

/** Returns the head of a SQL error and its position, which is in the head or follows some lines of hints. */
function sqlError(output: string): string | null {
  const found = /^(?:Error in query: )?(\[[A-Z][A-Z0-9_.]+\] .*|(?<=Error in query: ).*)$/m.exec(output);
  const head = found?.[1];
  if (!found || head === undefined) return null;
  const following = output.slice(found.index).split('\n').slice(0, MAX_ADVICE_LINES).join('\n');
  const [, line, position] = /(?:; |\()line (\d+),? pos(?:ition)? (\d+)/.exec(following) ?? [];
  if (line === undefined) return head;
  const text = head.replace(/(?:; line \d+ pos \d+;?|\(line \d+, pos \d+\))$/, '').trim();
  return `${text.replace(/\.$/, '')} (${placeOf(failedAt(output), Number(line), Number(position))})`;
}

/** The file and the position at which a failed statement begins; no file for the job's own text. */
interface FailedStatement {
  number: string;
  file: string | undefined;
  line: number;
  position: number;
}

/** Reads the first line that `sql_job.py` wrote about a failed statement, which is for the innermost file; null if there is none. */
function failedAt(output: string): FailedStatement | null {
  const said = /^Statement (\d+)(?: of (.+))?, which begins at line (\d+) pos (\d+), failed\.$/m.exec(output);
  if (!said) return null;
  const [, number = '', file, line, position] = said;
  return { number, file, line: Number(line), position: Number(position) };
}

/** Spark counts lines from the beginning of the statement, but users count from the beginning of the text. */
function placeOf(begin: FailedStatement | null, line: number, position: number): string {
  if (begin === null) return `line ${line} pos ${position} of the statement`;
  return `line ${begin.line + line - 1} pos ${line === 1 ? begin.position + position : position}`;
}

/** Names the failed statement of a SQL job. It is quoted only if Spark could not parse it, since Spark repeats no others. */
function failedStatement({ kind, stderrTail }: ProcessEnd): string {
  const failed = kind === 'sql' ? failedAt(stderrTail) : null;
  if (failed === null) return '';
  const text = unparsed(stderrTail);
  const file = failed.file === undefined ? '' : ` of ${failed.file}`;
  return `Statement ${failed.number}${file}${text === '' ? '' : ` (${text})`}: `;
}

/** Returns the beginning of a statement that Spark repeats, without its `^^^` pointer and leading comments. */
function unparsed(output: string): string {
  const heading = '\n== SQL ==\n';
  const at = output.lastIndexOf(heading);
  if (at < 0) return '';
  const lines = output.slice(at + heading.length).split('\n');
  const end = lines.findIndex((line) => /^(?:\d\d\/\d\d\/\d\d \d\d:|\s+at |Statement \d.*, failed\.$)/.test(line));
  const own = lines.slice(0, end < 0 ? undefined : end).filter((line) => !/^-*\^\^\^$/.test(line));
  return shorten(own.join('\n').replace(/^(?:\s|\/\*[^]*?\*\/)+/, ''), MAX_QUOTE_LENGTH);
}

/** Returns the interpreter's compile error: `<file>:12: error: type mismatch;` and the lines that detail it. */
function scalaError(output: string): string | null {
  const found = /^\S*:\d+: error: (.*)\n((?: (?:found|required) *: .*\n)*)/m.exec(`${output}\n`);
  if (!found) return null;
  const details = (found[2] ?? '').split('\n').map((line) => line.trim().replace(/\s*:\s*/, ': '));
  return ['Compile error:', found[1], ...details].filter(Boolean).join(' ');
}

/** Returns the head of the stack trace that ended the main thread, or else of the last one unless `isMainOnly`, with its innermost cause. */
function javaError(output: string, isMainOnly: boolean): string | null {
  const lines = output.split('\n');
  const heads = lines.flatMap((line, at) => {
    const found = /^(Exception in thread "main" )?(?:Exception in thread "[^"]*" )?((?:[\w$]+\.)+[\w$]+(?::.*)?)$/.exec(
      line,
    );
    // A message may have several lines before the first frame, and the interpreter may omit some or all frames.
    const traced =
      found !== null && lines.slice(at + 1, at + 20).some((next) => /^\s+(?:at |\.\.\. \d+ elided)/.test(next));
    return traced ? [{ at, main: found[1] !== undefined, text: found[2] ?? '' }] : [];
  });
  const head = heads.findLast(({ main }) => main) ?? (isMainOnly ? undefined : heads[heads.length - 1]);
  if (!head) return null;
  const cause = lines
    .slice(head.at)
    .findLast((line) => line.startsWith('Caused by: '))
    ?.slice('Caused by: '.length);
  return cause === undefined || head.text.includes(cause) ? head.text : `${head.text} (caused by ${cause})`;
}

function missingApplication(output: string): string | null {
  const python = /^.*can't open file '([^']+)'.*No such file or directory.*$/m.exec(output);
  if (python) return `The application file ${python[1]} does not exist.`;
  const submit =
    /^Exception in thread "main" java\.(?:io\.FileNotFoundException|nio\.file\.NoSuchFileException): (.*)\n((?:\s+at .*\n?)*)/m.exec(
      output,
    );
  // Counts only before the application ran: a file missing in the user's own code is the application's failure.
  if (
    submit &&
    /deploy\.(?:SparkSubmit|DependencyUtils)/.test(submit[2] ?? '') &&
    !/JavaMainApplication/.test(submit[2] ?? '')
  )
    return `A file of the run was not found: ${submit[1]}`;
  return /\bLocal jar \S+ does not exist/.exec(output)?.[0] ?? null;
}

/** Matches a jar that the interpreter could not open, or an archive that Spark could not unpack. */
function notAnArchive({ text }: ReportedError, output: string): string | null {
  const fault = /\bjava\.util\.zip\.ZipException: (.*?)\)?$/.exec(text)?.[1];
  const jar = /\bFatalError: Error accessing (?:.*\/)?(\S+)/.exec(text)?.[1];
  const unpacks = /^\s+at org\.apache\.spark\.util\.Utils\$\.unpack\(/m.test(output);
  if (fault === undefined || (jar === undefined && !unpacks)) return null;
  return `${jar ?? 'One of the archives'} is not a zip file, or is incomplete: ${fault}`;
}

function submitError(output: string): string | null {
  const found =
    /^(?:Error: (?:Missing|No main class|Unrecognized option|Invalid|Must specify|.* must be |Unknown).*|Exception in thread "main" org\.apache\.spark\.SparkException: (?:Master must|Could not parse Master|External scheme).*)$/m.exec(
      output,
    );
  return found ? found[0].replace(/^Error: |^Exception in thread "main" /, '') : null;
}

/** Java did not start: its message about its settings precedes or follows a line that is always the same. */
function javaRefused(output: string): RunEnd | null {
  const said =
    /^(.+)\nError: Could not create the Java Virtual Machine\.$/m.exec(output) ??
    /^Error occurred during initialization of VM\n(.+)$/m.exec(output);
  if (!said) return null;
  const advice = 'Correct driver_memory, written as 512m or 2g, or driver_java_options.';
  return verdict('error', 'SUBMIT_FAILED', `Java did not start: ${said[1]}`, advice);
}

/** Output of Spark, its launcher, Ivy and Java: log records, stack traces in them, reports. */
const SPARK_OUTPUT =
  /^(?:\d\d\/\d\d\/\d\d \d\d:\d\d:\d\d [A-Z]+ |\t|:: |WARNING: |\s+at |Ivy Default Cache set |The jars for the packages )|\sadded as a dependency$/;
const LOGGED_ERROR = /^\d\d\/\d\d\/\d\d \d\d:\d\d:\d\d (?:ERROR|FATAL) /;

/** Returns the last line of the application itself, which Spark's shutdown messages follow; otherwise the last error in the log. */
function lastWord(stderr: string): string | null {
  const lines = stderr.split('\n').filter((line) => line.trim() !== '');
  const last = lines.findLast((line) => !SPARK_OUTPUT.test(line)) ?? lines.findLast((line) => LOGGED_ERROR.test(line));
  return last === undefined ? null : clean(last);
}

function lastLine(output: string): string | null {
  return (
    output
      .split('\n')
      .findLast((line) => line.trim() !== '')
      ?.trim() ?? null
  );
}

function clean(text: string): string {
  return text.replace(/^\d\d\/\d\d\/\d\d \S+ [A-Z]+ /, '').trim();
}

function shorten(text: string, maxLength: number): string {
  const line = clean(text).replace(/\s+/g, ' ');
  return line.length <= maxLength ? line : `${line.slice(0, maxLength - 1)}…`;
}
