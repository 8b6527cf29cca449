import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Confinement, folderMode, type NeededPaths, Sandbox, visiblePaths } from './sandbox';

/** The machine's means of confinement. */
export interface ConfinementOptions {
  /** Path of bubblewrap's `bwrap`; null for the system's, `none` for no bubblewrap. */
  bubblewrap: string | null;
  /** First user id that nothing else uses. Ranges of fewer than two ids are not used. */
  firstUid: number;
  uids: number;
  /** Parent folder of the nodes and their sandboxes. */
  dir: string;
  needed: NeededPaths;
}

/** The strictest confinement that works here; `problem` says why stricter ones do not, null if there are none. */
export interface ChosenConfinement {
  confinement: Confinement;
  problem: string | null;
}

const PROBE_TIMEOUT_MS = 10_000;
/** Prefix of the folders in which a confinement is tried. */
export const PROBE_PREFIX = '.confinement-';
/** A probe's folder of this age was left by a process that died; milliseconds. */
const STALE_AFTER_MS = 60_000;

/** Tries the confinements that the machine's kernel, container and user allow, the strictest first. */
export async function chooseConfinement(means: ConfinementOptions): Promise<ChosenConfinement> {
  removeStaleProbes(means.dir);
  const problems: string[] = [];
  const bubblewrap = bubblewrapNamed(means.bubblewrap);
  for (const candidate of candidates(bubblewrap, means)) {
    const problem = await problemOf(candidate, means);
    if (problem === null) return { confinement: candidate, problem: problems.length > 0 ? problems.join(' ') : null };
    problems.push(problem);
  }
  if (bubblewrap === null) problems.push('Bubblewrap (bwrap) is not installed.');
  return { confinement: { kind: 'none' }, problem: problems.join(' ') };
}

/** Removes the folders of interrupted probes, which no other code removes. */
function removeStaleProbes(dir: string): void {
  if (!existsSync(dir)) return;
  for (const name of readdirSync(dir).filter((entry) => entry.startsWith(PROBE_PREFIX))) {
    const path = join(dir, name);
    const modifiedAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Date.now() - modifiedAt > STALE_AFTER_MS) rmSync(path, { recursive: true, force: true });
  }
}

function bubblewrapNamed(name: string | null): string | null {
  if (name === 'none') return null;
  return name || (['/usr/local/bin/bwrap', '/usr/bin/bwrap'].find((path) => existsSync(path)) ?? null);
}

function candidates(
  bubblewrap: string | null,
  { firstUid, uids }: ConfinementOptions,
): Exclude<Confinement, { kind: 'none' }>[] {
  if (process.platform !== 'linux') return [];
  if (process.getuid?.() !== 0) return bubblewrap === null ? [] : [{ kind: 'namespaces', bubblewrap }];
  if (uids < 2) return [];
  const users = { kind: 'users', firstUid, uids } as const;
  return [...(bubblewrap === null ? [] : [{ ...users, bubblewrap }]), { ...users, bubblewrap: null }];
}

/** Returns a sentence that says why a confinement does not work; null if it works. */
async function problemOf(
  confinement: Exclude<Confinement, { kind: 'none' }>,
  { dir, needed }: ConfinementOptions,
): Promise<string | null> {
  const folder = join(dir, `${PROBE_PREFIX}${randomUUID()}`);
  // A missing program is reported when the node starts.
  const present = [...needed.paths, needed.python].filter((path) => path !== null).filter((path) => existsSync(path));
  const visible = visiblePaths(needed);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    // These folders are parents of a box, like a node's folders will be.
    for (const path of [dir, folder]) chmodSync(path, folderMode(confinement));
    const ends = confinement.kind === 'users' ? [0, confinement.uids - 1] : [0];
    for (const index of ends) {
      const options = { dir: `${folder}/${index}`, index, visible, shared: [], mark: folder };
      await probe(new Sandbox(confinement, options), present);
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

async function probe(sandbox: Sandbox, needed: readonly string[]): Promise<void> {
  sandbox.create(['tmp']);
  sandbox.chownBox();
  const [program = '', ...args] = sandbox.launch('probe', ['/bin/sh', '-c', TRIAL, 'trial', ...needed], {});
  await promisify(execFile)(program, args, { env: sandbox.environment(), timeout: PROBE_TIMEOUT_MS });
}

/** Returns the name of a confinement for messages. */
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
