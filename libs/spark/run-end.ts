import type { RunKind, RunOutcome, RunReason } from '../contracts/agent-protocol';

/** How the process of a run ended, with the last of its output. */
export interface ProcessEnd {
  kind: RunKind;
  /** Null when no exit code is known. */
  exitCode: number | null;
  /** Signal that ended it, when known. */
  signal: string | null;
  stdoutTail: string;
  stderrTail: string;
}

/** Verdict on an ended run. */
export interface RunEnd {
  outcome: RunOutcome;
  reason: RunReason;
  message: string;
}

const LONGEST_MESSAGE = 600;
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

/** Says what the end of a run that nobody asked to end means. */
export function classifyEnd(end: ProcessEnd): RunEnd {
  if (end.exitCode === 0) return { outcome: 'done', reason: 'COMPLETED', message: 'The application completed.' };
  // The interpreter prints to stderr too, but when it could not be told so, its errors are in stdout.
  const output = end.kind === 'raw-scala' ? `${end.stdoutTail}\n${end.stderrTail}` : end.stderrTail;
  const told = firstOf(output);
  const verdict = (outcome: RunOutcome, reason: RunReason, message: string): RunEnd => ({
    outcome,
    reason,
    message: shorten(message),
  });

  const memory = /^.*(?:java\.lang\.OutOfMemoryError.*|\bMemoryError\b.*)$/m.exec(output)?.[0];
  if (memory !== undefined || end.exitCode === SPARK_OUT_OF_MEMORY)
    return verdict('error', 'OUT_OF_MEMORY', `Out of memory: ${clean(memory ?? 'the driver ran out of heap')}`);
  const missing = missingApplication(output);
  if (missing !== null) return verdict('error', 'FILE_NOT_FOUND', missing);
  const signal = end.signal ?? (end.exitCode !== null && end.exitCode > 128 ? SIGNALS[end.exitCode - 128] : undefined);
  if (told === null && (signal !== undefined || end.exitCode === null)) {
    const hint = signal === 'SIGKILL' ? ' The machine may have run out of memory.' : '';
    const by = signal === undefined ? 'without an exit code' : `by ${signal}`;
    return verdict('terminated', 'SIGNALLED', `The driver was ended ${by}, not by the platform.${hint}`);
  }
  const submit = submitError(output);
  if (submit !== null) return verdict('error', 'SUBMIT_FAILED', submit);
  if (told !== null) return verdict('error', 'APPLICATION_FAILED', told);
  const last = lastLine(output) ?? lastLine(end.stdoutTail);
  const code = `The application ended with exit code ${end.exitCode}`;
  return verdict('error', 'APPLICATION_FAILED', last === null ? `${code}.` : `${code}; its last line: ${last}`);
}

function firstOf(output: string): string | null {
  return pythonError(output) ?? sqlError(output) ?? scalaError(output) ?? javaError(output);
}

/** Last line of the last Python traceback; what Java said when it only passes that on. */
function pythonError(output: string): string | null {
  const start = output.lastIndexOf('\nTraceback (most recent call last):');
  const from = start < 0 && output.startsWith('Traceback (most recent call last):') ? 0 : start;
  if (from < 0 || (start < 0 && from !== 0)) {
    return /^(?:SyntaxError|IndentationError|TabError): .*$/m.exec(output)?.[0] ?? null;
  }
  const lines = output.slice(from).trimStart().split('\n').slice(1);
  const at = lines.findIndex((line) => /^[A-Za-z_][\w.]*(?::|$)/.test(line));
  const line = lines[at];
  if (line === undefined) return null;
  const next = lines[at + 1];
  if (line.startsWith('py4j.protocol.Py4JJavaError') && next?.startsWith(': ')) return next.slice(2);
  return line;
}

function sqlError(output: string): string | null {
  const found = /^(?:Error in query: .*|\[[A-Z][A-Z0-9_.]+\] .*)$/m.exec(output)?.[0];
  return found === undefined ? null : found.replace(/^Error in query: /, '');
}

/** Compiler message of the interpreter: `<file>:12: error: type mismatch;` and the lines that detail it. */
function scalaError(output: string): string | null {
  const found = /^\S*:\d+: error: (.*)\n((?: (?:found|required) *: .*\n)*)/m.exec(`${output}\n`);
  if (!found) return null;
  const details = (found[2] ?? '').split('\n').map((line) => line.trim().replace(/\s*:\s*/, ': '));
  return ['Compile error:', found[1], ...details].filter(Boolean).join(' ');
}

/** Head of the last Java stack trace, with its innermost cause. */
function javaError(output: string): string | null {
  const heads = [
    ...output.matchAll(
      /^(?!\s|Caused by: )(?:Exception in thread "[^"]*" )?(.*)\n(?:(?!\s+at )(?!\d\d\/\d\d).*\n){0,20}?[ \t]+at /gm,
    ),
  ];
  const named = heads.filter((match) => /^(?:[\w$]+\.)+[\w$]+(?::|$)/.test(match[1] ?? ''));
  const main = named.filter((match) => match[0].startsWith('Exception in thread "main"'));
  const head = (main[main.length - 1] ?? named[named.length - 1]) as RegExpMatchArray | undefined;
  if (!head) return null;
  const text = head[1] ?? '';
  const causes = [...output.slice(head.index).matchAll(/^Caused by: (.*)$/gm)];
  const cause = causes[causes.length - 1]?.[1];
  return cause === undefined || text.includes(cause) ? text : `${text} (caused by ${cause})`;
}

function missingApplication(output: string): string | null {
  const python = /^.*can't open file '([^']+)'.*No such file or directory.*$/m.exec(output);
  if (python) return `The application file ${python[1]} does not exist.`;
  const submit =
    /^Exception in thread "main" java\.(?:io\.FileNotFoundException|nio\.file\.NoSuchFileException): (.*)\n((?:\s+at .*\n?)*)/m.exec(
      output,
    );
  // Only before the application ran: a file that the user's own code misses is the application's failure.
  if (
    submit &&
    /deploy\.(?:SparkSubmit|DependencyUtils)/.test(submit[2] ?? '') &&
    !/JavaMainApplication/.test(submit[2] ?? '')
  )
    return `A file of the run was not found: ${submit[1]}`;
  return /^(?:Error: )?(?:Local jar|Cannot load main class from JAR) (.*) (?:does not exist|with URI).*$/m.test(output)
    ? (/^.*(?:Local jar|Cannot load main class from JAR).*$/m.exec(output)?.[0] ?? null)
    : null;
}

function submitError(output: string): string | null {
  const found =
    /^(?:Error: (?:Failed to load|Missing|No main class|Unrecognized option|Invalid|Must specify|.* must be |Unknown).*|Exception in thread "main" org\.apache\.spark\.SparkException: (?:Master must|Could not parse Master|External scheme).*)$/m.exec(
      output,
    );
  return found ? found[0].replace(/^Error: |^Exception in thread "main" /, '') : null;
}

function lastLine(output: string): string | null {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  return lines[lines.length - 1]?.trim() ?? null;
}

function clean(text: string): string {
  return text.replace(/^\d\d\/\d\d\/\d\d \S+ [A-Z]+ /, '').trim();
}

function shorten(text: string): string {
  const line = clean(text).replace(/\s+/g, ' ');
  return line.length <= LONGEST_MESSAGE ? line : `${line.slice(0, LONGEST_MESSAGE - 1)}…`;
}
