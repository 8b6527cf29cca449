import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { visiblePaths } from '../../../libs/node-agent/sandbox';
import type { ProcessUser, TestRuntime } from '../../e2e/harness/platform';

const ROOT = resolve(__dirname, '..', '..', '..');
/** The id of no user of this machine. */
const UID = 64_321;
/** Range of user ids for jobs: enough for eight nodes, and apart from the default range of another platform on this machine. */
const [FIRST, COUNT] = [1_910_000_000, 1024];

/**
 * Makes the paths from the first argument on readable, even below folders that are closed to others, and then runs the
 * command after `--`: a clone and its Python may lie in a private folder of root.
 */
const SHOW = `
set -e
stash=$1; shift
mount -t tmpfs none "$stash"
n=0
while [ "$1" != -- ]; do
  n=$((n + 1)); mkdir "$stash/$n"; mount --rbind "$2" "$stash/$n"
  eval "closed$n=\\$1 path$n=\\$2"
  shift 2
done
shift
i=0
while [ $i -lt $n ]; do
  i=$((i + 1)); eval "closed=\\$closed$i path=\\$path$i"
  [ -e "$closed/.shown" ] || { mount -t tmpfs -o mode=755 none "$closed"; : >"$closed/.shown"; }
  mkdir -p "$path"; mount --rbind "$stash/$i" "$path"
done
exec "$@"
`;

/** Returns a command prefix that lets every user read the programs of a platform and its jobs. */
export function showing({ bubblewrap, python, ...runtime }: TestRuntime): string[] {
  const { sparkHome, javaHome, classArchive, connectors, scalaKernel, turbo } = runtime;
  const paths = [ROOT, process.execPath, sparkHome, javaHome, classArchive, connectors, scalaKernel, turbo];
  const libraries = bubblewrap === null ? [] : [dirname(dirname(dirname(bubblewrap)))];
  const shown = [...visiblePaths({ paths, python }), ...libraries].flatMap((path) => {
    const closed = closedAbove(path);
    return closed === null ? [] : [closed, path];
  });
  const stash = mkdtempSync(join(tmpdir(), 'stash-'));
  return ['unshare', '--mount', '--propagation', 'private', '/bin/sh', '-c', SHOW, 'show', stash, ...shown, '--'];
}

/** Returns the topmost folder above a path that only its owner may enter, or null. */
function closedAbove(path: string): string | null {
  const above: string[] = [];
  for (let up = dirname(path); up !== '/'; up = dirname(up)) above.unshift(up);
  return above.find((folder) => (statSync(folder).mode & 0o001) === 0) ?? null;
}

/** Returns an ordinary user of the machine: the user who runs the tests, unless that is root. Namespaces confine the jobs. */
export function ordinaryUser(runtime: TestRuntime): ProcessUser {
  const own = process.getuid?.() ?? 0;
  if (own !== 0) return { uid: own, command: [] };
  const asUser = ['setpriv', `--reuid=${UID}`, `--regid=${UID}`, '--clear-groups'];
  return { uid: UID, command: [...showing(runtime), ...asUser] };
}

/** Returns root as in a container: it may change users but create no namespaces, and the users of jobs have names. */
export function containerRoot(runtime: TestRuntime): { user: ProcessUser; env: Record<string, string> } {
  const passwd = join(mkdtempSync(join(tmpdir(), 'passwd-')), 'passwd');
  const users = Array.from({ length: COUNT }, (_, n) => `spark-${n}:x:${FIRST + n}:${FIRST + n}::/nonexistent:/bin/sh`);
  writeFileSync(passwd, [readFileSync('/etc/passwd', 'utf8').trimEnd(), ...users, ''].join('\n'));
  const script =
    'mount --bind "$1" /etc/passwd && shift && exec setpriv --no-new-privs --bounding-set=-all,+chown,+dac_override,+fowner,+kill,+setgid,+setuid "$@"';
  return {
    user: { uid: 0, command: [...showing(runtime), '/bin/sh', '-c', script, 'as-container', passwd] },
    env: { COMPUTE_LOCAL_UIDS: `${FIRST}-${FIRST + COUNT - 1}` },
  };
}
