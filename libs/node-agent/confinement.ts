import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Confinement, folderMode, type NeededPaths, Sandbox, visiblePaths } from './sandbox';

/** What a machine offers for a confinement. */
export interface ConfinementMeans {
  /** Path of bubblewrap's `bwrap`; null for that of the system, `none` for no bubblewrap. */
  bubblewrap: string | null;
  /** User ids that nothing else uses; fewer than two are not used. */
  firstUid: number;
  uids: number;
  /** Where nodes, and with them sandboxes, will be. */
  dir: string;
  needed: NeededPaths;
}

/** The best confinement that works here; `problem` says what kept it from being better, null where nothing did. */
export interface ChosenConfinement {
  confinement: Confinement;
  problem: string | null;
}

const PROBE_DEADLINE_MS = 10_000;
/** Begins the name of a folder in which a confinement is tried. */
export const PROBE_PREFIX = '.confinement-';
/** A folder of a probe that is older than this was left by a process that died in it; milliseconds. */
const LEFT_AFTER_MS = 60_000;

/** Tries what the machine's kernel, container and user allow, the strictest first. */
export async function chooseConfinement(means: ConfinementMeans): Promise<ChosenConfinement> {
  removeLeft(means.dir);
  const problems: string[] = [];
  const bubblewrap = bubblewrapNamed(means.bubblewrap);
  for (const candidate of candidates(bubblewrap, means)) {
    const problem = await problemOf(candidate, means);
    if (problem === null) return { confinement: candidate, problem: problems.length > 0 ? problems.join(' ') : null };
    problems.push(problem);
  }
  if (bubblewrap === null) problems.push('There is no bubblewrap (bwrap) here.');
  return { confinement: { kind: 'none' }, problem: problems.join(' ') };
}

/** Removes what probes left that were cut short: nobody else knows of it. */
function removeLeft(dir: string): void {
  if (!existsSync(dir)) return;
  for (const name of readdirSync(dir).filter((entry) => entry.startsWith(PROBE_PREFIX))) {
    const path = join(dir, name);
    const made = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Date.now() - made > LEFT_AFTER_MS) rmSync(path, { recursive: true, force: true });
  }
}

function bubblewrapNamed(name: string | null): string | null {
  if (name === 'none') return null;
  return name || (['/usr/local/bin/bwrap', '/usr/bin/bwrap'].find((path) => existsSync(path)) ?? null);
}

function candidates(
  bubblewrap: string | null,
  { firstUid, uids }: ConfinementMeans,
): Exclude<Confinement, { kind: 'none' }>[] {
  if (process.platform !== 'linux') return [];
  if (process.getuid?.() !== 0) return bubblewrap === null ? [] : [{ kind: 'namespaces', bubblewrap }];
  if (uids < 2) return [];
  const users = { kind: 'users', firstUid, uids } as const;
  return [...(bubblewrap === null ? [] : [{ ...users, bubblewrap }]), { ...users, bubblewrap: null }];
}

/** What keeps a confinement from working, in a sentence; null when it works. */
async function problemOf(
  confinement: Exclude<Confinement, { kind: 'none' }>,
  { dir, needed }: ConfinementMeans,
): Promise<string | null> {
  const folder = join(dir, `${PROBE_PREFIX}${randomUUID()}`);
  // Whoever starts a node reports what is missing.
  const present = [...needed.paths, needed.python].filter((path) => path !== null).filter((path) => existsSync(path));
  const visible = visiblePaths(needed);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    // On the way to a box, as a node's folders will be.
    for (const path of [dir, folder]) chmodSync(path, folderMode(confinement));
    const ends = confinement.kind === 'users' ? [0, confinement.uids - 1] : [0];
    for (const index of ends) {
      const place = { dir: `${folder}/${index}`, index, visible, shared: [], mark: folder };
      await tryOut(new Sandbox(confinement, place), present);
    }
    return null;
  } catch (error) {
    const { stderr, message } = error as { stderr?: string; message: string };
    const cause = (stderr?.trim() || message).split('\n').slice(-3).join(' ').slice(0, 500);
    return `${describe(confinement)} is not available: ${cause}.`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Java and Hadoop fail for a user without a name. */
const TRIAL = `
id -un >/dev/null && : >tmp/file && test ! -w / && test -r /proc/self/stat || exit 1
for path; do test -r "$path" || { echo "jobs cannot read $path" >&2; exit 1; }; done
`;

async function tryOut(sandbox: Sandbox, needed: readonly string[]): Promise<void> {
  sandbox.make(['tmp']);
  sandbox.own();
  const [program = '', ...args] = sandbox.launch('probe', ['/bin/sh', '-c', TRIAL, 'trial', ...needed], {});
  await promisify(execFile)(program, args, { env: sandbox.environment(), timeout: PROBE_DEADLINE_MS });
}

/** Names a confinement for people. */
export function describe(confinement: Confinement): string {
  switch (confinement.kind) {
    case 'users':
      return confinement.bubblewrap === null ? 'A user for each job' : 'A user and namespaces for each job';
    case 'namespaces':
      return 'Namespaces for each job';
    case 'none':
      return 'No confinement';
  }
}
