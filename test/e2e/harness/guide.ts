import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const ROOT = join(__dirname, '..', '..', '..');
const DOCS = 'docs';

/** Below the timeout of a test, whose message would not name the block. */
const PAGE_TIMEOUT_MS = 420_000;

/** Number of characters of a block's output that a failure shows. */
const OUTPUT_KEPT = 4_000;

/** A block of commands and its expected output. */
interface Block {
  /** Line of the page at which the block begins. */
  line: number;
  commands: string;
  /** Expected lines, from the `text` block below it; `…` stands for any text. */
  expected: string[];
}

/** Returns the paths of the guides with blocks to run, from the folder of the documentation. */
export function guidePages(): string[] {
  const pages = readdirSync(join(ROOT, DOCS, 'guides')).filter((name) => name.endsWith('.md') && name !== 'README.md');
  return pages.map((name) => join('guides', name));
}

/**
 * Runs the `sh` blocks of a page in order, in one shell, as a reader pastes them. Unlike the reader's shell, this one stops at the
 * first command that fails and at a variable that was never set. Throws an error that names the block, its exit status and its output.
 */
export async function runGuide(page: string, folder: string, env: NodeJS.ProcessEnv): Promise<void> {
  const blocks = blocksOf(readFileSync(join(ROOT, DOCS, page), 'utf8'));
  if (blocks.length === 0) throw new Error(`${page} has no sh block`);
  const outputOf = (index: number) => join(folder, `${basename(page)}.${index}.txt`);
  const script = blocks.map(({ commands }, index) => `exec >'${outputOf(index)}' 2>&1\n${commands}`).join('');
  writeFileSync(join(folder, `${basename(page)}.sh`), script);
  const status = await runShell(`${basename(page)}.sh`, folder, env);
  for (const [index, { line, commands, expected }] of blocks.entries()) {
    const fail = (what: string) => {
      const output = readFileSync(outputOf(index), 'utf8').slice(-OUTPUT_KEPT);
      throw new Error(`${join(DOCS, page)}:${line} ${what}\n\n${commands}\nIt printed:\n${output}`);
    };
    const isLastBegun = index === blocks.length - 1 || !existsSync(outputOf(index + 1));
    if (isLastBegun && status !== 0) fail(`This block ended with ${status}.`);
    const missing = firstMissing(expected, readFileSync(outputOf(index), 'utf8').split('\n'));
    if (missing !== undefined) fail(`This block did not print the line ${missing}`);
  }
}

function blocksOf(text: string): Block[] {
  return [...text.matchAll(/^```sh\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?/gms)].map((found) => ({
    line: text.slice(0, found.index).split('\n').length,
    commands: found[1] ?? '',
    expected: found[2]?.split('\n').filter((line) => line !== '') ?? [],
  }));
}

/** Returns the first expected line without a match; matches must come in the expected order. */
function firstMissing(expected: readonly string[], printed: readonly string[]): string | undefined {
  let from = 0;
  return expected.find((line) => {
    const pattern = new RegExp(`^${line.split('…').map(escaped).join('.*')}$`);
    const at = printed.findIndex((candidate, index) => index >= from && pattern.test(candidate.trim()));
    from = at + 1;
    return at < 0;
  });
}

function escaped(text: string): string {
  return text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
}

/** Returns the exit status, or the signal or timeout that ended the shell. All processes that the shell started end with it. */
async function runShell(file: string, folder: string, env: NodeJS.ProcessEnv): Promise<number | string> {
  const shell = spawn('sh', ['-eu', file], { cwd: folder, env, detached: true, stdio: 'ignore' });
  const group = -(shell.pid ?? 0);
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    killQuietly(group);
  }, PAGE_TIMEOUT_MS);
  try {
    const [code, signal] = (await once(shell, 'exit')) as [number | null, string | null];
    return isLate
      ? `no status: the page took longer than ${PAGE_TIMEOUT_MS / 1000} s`
      : (code ?? signal ?? 'no status');
  } finally {
    clearTimeout(timer);
    killQuietly(group);
  }
}

function killQuietly(group: number): void {
  try {
    if (group !== 0) process.kill(group, 'SIGKILL');
  } catch {
    // The process group is already gone.
  }
}
