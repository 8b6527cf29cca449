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
  // spark-submit passes the stderr of a Python driver to its own stdout, so that is where the last word is.
  const output =
    end.kind === 'python' ? `${end.stderrTail}\n${end.stdoutTail}` : `${end.stdoutTail}\n${end.stderrTail}`;
  const told = toldBy(output);
  const signal = end.signal ?? SIGNALS[(end.exitCode ?? 0) - 128];
  const memory = outOfMemory(end, output, told);
  if (memory !== null) return verdict('error', 'OUT_OF_MEMORY', `Out of memory: ${clean(memory)}`);
  const missing = missingApplication(output);
  if (missing !== null) return verdict('error', 'FILE_NOT_FOUND', missing);
  if (signal !== undefined || end.exitCode === null) {
    const hint = signal === 'SIGKILL' ? ' The machine may have run out of memory.' : '';
    const by = signal === undefined ? 'without an exit code' : `by ${signal}`;
    return verdict('terminated', 'SIGNALLED', `The driver was ended ${by}, not by the platform.${hint}`);
  }
  const submit = submitError(output);
  if (submit !== null) return verdict('error', 'SUBMIT_FAILED', submit);
  if (told !== null) return verdict('error', 'APPLICATION_FAILED', told);
  const last = lastLine(end.stderrTail) ?? lastLine(end.stdoutTail);
  const code = `The application ended with exit code ${end.exitCode}`;
  return verdict('error', 'APPLICATION_FAILED', last === null ? `${code}.` : `${code}; its last line: ${last}`);
}

function verdict(outcome: RunOutcome, reason: RunReason, message: string): RunEnd {
  return { outcome, reason, message: shorten(message) };
}

function outOfMemory(end: ProcessEnd, output: string, told: string | null): string | null {
  if (told !== null && /^(?:MemoryError\b|java\.lang\.OutOfMemoryError)/.test(told)) return told;
  const java = /^.*java\.lang\.OutOfMemoryError.*$/m.exec(output)?.[0];
  return java ?? (end.exitCode === SPARK_OUT_OF_MEMORY ? 'the driver ran out of heap' : null);
}

/** What the application itself said about its failure, the most telling first. */
function toldBy(output: string): string | null {
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
  if (!line.startsWith('py4j.protocol.Py4JJavaError') || !next?.startsWith(': ')) return line;
  // An error of a Python worker: Java names it by the head of its traceback, whose last line says more.
  const head = /Traceback \(most recent call last\):$/;
  const worker = head.test(next) ? lines.slice(at + 2).find((text) => /^[A-Za-z_][\w.]*(?::|$)/.test(text)) : undefined;
  return worker === undefined ? next.slice(2) : next.slice(2).replace(head, worker);
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

/** Head of the stack trace that ended the main thread, or of the last one, with its innermost cause. */
function javaError(output: string): string | null {
  const lines = output.split('\n');
  const heads = lines.flatMap((line, at) => {
    const found = /^(Exception in thread "main" )?(?:Exception in thread "[^"]*" )?((?:[\w$]+\.)+[\w$]+(?::.*)?)$/.exec(
      line,
    );
    // A message may have lines of its own before the first frame; the interpreter leaves out frames, even all.
    const traced =
      found !== null && lines.slice(at + 1, at + 20).some((next) => /^\s+(?:at |\.\.\. \d+ elided)/.test(next));
    return traced ? [{ at, main: found[1] !== undefined, text: found[2] ?? '' }] : [];
  });
  const head = heads.findLast(({ main }) => main) ?? heads[heads.length - 1];
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
  // Only before the application ran: a file missing in the user's own code is the application's failure.
  if (
    submit &&
    /deploy\.(?:SparkSubmit|DependencyUtils)/.test(submit[2] ?? '') &&
    !/JavaMainApplication/.test(submit[2] ?? '')
  )
    return `A file of the run was not found: ${submit[1]}`;
  return /\bLocal jar \S+ does not exist/.exec(output)?.[0] ?? null;
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
