import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { removeLeftBy } from './files';
import { hasProcesses, killUser, NODE_MARK } from './processes';

/** How users' code on a node is isolated from the platform, from the agent and from other users' code. */
export type Confinement =
  /**
   * Each sandbox has a user id of its own, `firstUid` and the next `uids - 1`, which takes an agent that is root. With
   * `bubblewrap`, a path, it also sees no other processes and files than it needs; null in containers, which may not do that.
   */
  | { kind: 'users'; firstUid: number; uids: number; bubblewrap: string | null }
  /** Each sandbox has namespaces of its own, so that processes and files of others do not exist for it. */
  | { kind: 'namespaces'; bubblewrap: string }
  /** Whatever runs on the node can do everything the agent can. */
  | { kind: 'none' };

/** Where a sandbox is and what it sees. */
export interface SandboxPlace {
  /** The agent's folder for the sandbox. What is confined there can write to `box` in it and to nothing else. */
  dir: string;
  /** Which of the node's users it is, from 0; no two sandboxes at once are the same. */
  index: number;
  /** Files and folders of the machine that it needs, such as Spark and Java; read-only. */
  visible: readonly string[];
  /** Folders of the machine that all sandboxes share, as far as their files' permissions let them. */
  shared: readonly string[];
  /** Devices of the machine besides the usual ones. */
  devices?: readonly string[];
  /** Mark of its processes. */
  mark: string;
}

const SYSTEM = ['usr', 'bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32'];
const OF_SYSTEM = new RegExp(`^/(?:${SYSTEM.join('|')})(?:/|$)`);
/** Fixed, whatever the run or daemon sets: its variables take effect only inside. */
const OUTER_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
/** Of the machine's configuration, what programs need to resolve names, to trust servers and to tell the time. */
const ETC = [
  ...['alternatives', 'ca-certificates', 'ca-certificates.conf', 'crypto-policies', 'fonts', 'gai.conf', 'host.conf'],
  ...['hosts', 'krb5.conf', 'krb5.conf.d', 'ld.so.cache', 'ld.so.conf', 'ld.so.conf.d', 'localtime', 'mime.types'],
  ...[
    'nsswitch.conf',
    'pki/ca-trust',
    'pki/java',
    'pki/tls/certs',
    'protocols',
    'resolv.conf',
    'services',
    'ssl/certs',
  ],
  ...['ssl/openssl.cnf', 'timezone'],
];
/** Signals that a group gets reach what is confined and not bubblewrap, whose end would be taken for its. */
const IGNORING = ['/bin/sh', '-c', `trap '' TERM INT HUP; exec "$@"`, 'sandbox'];
const HEEDING = ['env', '--default-signal=TERM,INT,HUP'];
const ENTER = ['/bin/sh', '-c', 'cd "$1" && . "$2" && shift 2 && exec "$@"', 'sandbox'];

/** What a run, or the daemons of a node, is confined to: a user, a folder, a view of the machine. */
export class Sandbox {
  /** Its own folder. */
  readonly box: string;
  /** The user id it runs as; null where that is the agent's. */
  readonly uid: number | null;
  private readonly place: SandboxPlace;
  private reads = 0;

  /** Relative paths of the place are from the agent's working directory; inside, there is none of that name. */
  constructor(
    private readonly confinement: Confinement,
    place: SandboxPlace,
  ) {
    const absolute = (paths: readonly string[]) => paths.map((path) => resolve(path));
    const { dir, visible, shared } = place;
    this.place = { ...place, dir: resolve(dir), visible: absolute(visible), shared: absolute(shared) };
    this.box = `${this.place.dir}/box`;
    this.uid = confinement.kind === 'users' ? confinement.firstUid + place.index : null;
  }

  /** Creates its folders, which belong to the agent until {@link own}; does nothing if they exist. */
  make(folders: readonly string[]): void {
    const { dir } = this.place;
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    chmodSync(dir, folderMode(this.confinement));
    for (const name of ['', ...folders]) mkdirSync(join(this.box, name), { recursive: true, mode: 0o700 });
    const id = this.uid ?? process.getuid?.() ?? 0;
    const gid = this.uid ?? process.getgid?.() ?? 0;
    const user = `spark:x:${id}:${gid}::${this.box}/home:/bin/sh\n`;
    writeFileSync(`${dir}/passwd`, id === 0 ? user : `root:x:0:0::/:/bin/sh\n${user}`, { mode: 0o644 });
    writeFileSync(`${dir}/group`, `spark:x:${gid}:\n`, { mode: 0o644 });
  }

  /** Gives it its folder. Only while nothing runs in it, which could put links there meanwhile. */
  own(): void {
    if (this.uid !== null) giveTree(this.box, this.uid);
  }

  /** Gives it files of `dir`, which stay where they are. */
  give(...files: readonly string[]): void {
    if (this.uid === null) return;
    for (const file of files) lchownSync(`${this.place.dir}/${file}`, this.uid, this.uid);
  }

  /**
   * What to start so that `argv` runs in it, with `env` and nothing else of an environment and in `cwd`, a folder of
   * the box. The variables go through a file, `name`, since every process of a machine can read command lines.
   * @param files of `dir` that it may read besides
   */
  launch(name: string, argv: readonly string[], env: Environment, cwd = '.', files: readonly string[] = []): string[] {
    return this.confined(this.inner(name, argv, env, cwd), [`env-${name}`, ...files], []);
  }

  /** Environment of what {@link launch} answers. */
  environment(): Record<string, string> {
    return { PATH: OUTER_PATH, LANG: 'C.UTF-8', [NODE_MARK]: this.place.mark };
  }

  /**
   * Content of a file as what is confined may read it: the agent itself must not read what a user names. Null when it cannot
   * be read, is longer than `maxBytes` or takes longer than `ms` milliseconds.
   */
  async read(path: string, maxBytes: number, ms: number): Promise<string | null> {
    this.reads += 1;
    const name = `read-${this.reads}`;
    const inner = this.inner(name, ['cat', '--', path], {}, '.');
    const [program = '', ...args] = this.confined(inner, [`env-${name}`], ['--die-with-parent']);
    const child = spawn(program, args, { env: this.environment(), stdio: ['ignore', 'pipe', 'ignore'] });
    const parts: Buffer[] = [];
    let length = 0;
    return new Promise((resolve) => {
      const timer = setTimeout(() => child.kill('SIGKILL'), ms);
      child.stdout.on('data', (part: Buffer) => {
        length += part.length;
        if (length > maxBytes) child.kill('SIGKILL');
        else parts.push(part);
      });
      const end = (code: number | null): void => {
        clearTimeout(timer);
        resolve(code === 0 && length <= maxBytes ? Buffer.concat(parts).toString('utf8') : null);
      };
      child.once('error', () => end(null));
      child.once('close', end);
    });
  }

  /** Ends every process of its user, and removes what these have left in folders that all users share. */
  async clear(): Promise<void> {
    if (this.confinement.kind !== 'users') return;
    const { uid } = this;
    if (uid === null) return;
    for (let tries = 0; hasProcesses(uid) && tries < 100; tries++) await killUser(uid);
    if (this.confinement.bubblewrap === null) await removeLeftBy(uid, ['/tmp', '/var/tmp', '/dev/shm']);
  }

  /** `argv` with its environment, to be started as the user and with the view of the sandbox. */
  private inner(name: string, argv: readonly string[], env: Environment, cwd: string): string[] {
    const file = `${this.place.dir}/env-${name}`;
    rmSync(file, { force: true });
    writeFileSync(file, environmentScript(env), { mode: 0o400, flag: 'wx' });
    this.give(`env-${name}`);
    return [...ENTER, resolve(this.box, cwd), file, ...argv];
  }

  private confined(inner: readonly string[], files: readonly string[], options: readonly string[]): string[] {
    const { confinement } = this;
    if (confinement.kind === 'none') return [...inner];
    const asUser = confinement.kind === 'users' ? this.asUser() : [];
    if (confinement.bubblewrap === null) return [...asUser, ...inner];
    return [...IGNORING, confinement.bubblewrap, ...options, ...this.view(files), ...asUser, ...HEEDING, ...inner];
  }

  private asUser(): string[] {
    return ['setpriv', `--reuid=${this.uid}`, `--regid=${this.uid}`, '--clear-groups', '--no-new-privs'];
  }

  /** A machine of system programs, what is visible, and the box; processes, shared memory and /tmp of its own. */
  private view(files: readonly string[]): string[] {
    const { dir, visible, shared, devices = [] } = this.place;
    const given = files.map((file) => `${dir}/${file}`);
    const etc = etcNames().map((name) => `/etc/${name}`);
    const folders = ancestorsOf([...etc, ...visible, ...shared, ...given, this.box]);
    const readOnly = (path: string): string[] => ['--ro-bind', path, path];
    const empty = (path: string): string[] => ['--perms', '1777', '--tmpfs', path];
    return [
      ...(this.confinement.kind === 'namespaces' ? ['--unshare-user'] : []),
      ...['--unshare-pid', '--unshare-ipc', '--unshare-uts'],
      ...systemFolders(),
      ...['--proc', '/proc', '--dev', '/dev'],
      ...devices.flatMap((path) => ['--dev-bind-try', path, path]),
      ...['/dev/shm', '/tmp', '/var/tmp'].flatMap(empty),
      ...['--dir', '/run'],
      ...folders.flatMap((path) => ['--perms', '0755', '--dir', path]),
      ...etc.flatMap((path) => ['--ro-bind-try', path, path]),
      ...['--ro-bind', `${dir}/passwd`, '/etc/passwd', '--ro-bind', `${dir}/group`, '/etc/group'],
      ...visible.flatMap(readOnly),
      ...shared.flatMap((path) => ['--bind-try', path, path]),
      ...given.flatMap(readOnly),
      ...['--bind', this.box, this.box, '--remount-ro', '/', '--'],
    ];
  }
}

/** Mode of folders on the way to a box: what has no view of its own has to pass through, and sees nothing there. */
export function folderMode(confinement: Confinement): number {
  return confinement.kind === 'users' && confinement.bubblewrap === null ? 0o711 : 0o700;
}

type Environment = Readonly<Record<string, string>>;

/** Whether a shell can hold a variable of this name. */
export function isVariableName(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name);
}

function environmentScript(env: Environment): string {
  const lines = Object.entries(env)
    .filter(([name]) => isVariableName(name) && name !== NODE_MARK)
    .map(([name, value]) => `export ${name}='${value.replaceAll("'", `'\\''`).replaceAll('\0', '')}'`);
  return [...lines, ''].join('\n');
}

/** Folders on the way to paths, each after the one that it is in: those that bubblewrap makes by itself let only root through. */
function ancestorsOf(paths: readonly string[]): string[] {
  const found = new Set<string>();
  for (const path of paths) for (let up = dirname(path); up !== '/'; up = dirname(up)) found.add(up);
  return [...found].sort();
}

function giveTree(path: string, uid: number): void {
  lchownSync(path, uid, uid);
  if (!lstatSync(path).isDirectory()) return;
  for (const name of readdirSync(path)) giveTree(join(path, name), uid);
}

function systemFolders(): string[] {
  const folders = SYSTEM.map((name) => `/${name}`).filter((path) => existsSync(path));
  return folders.flatMap((path) =>
    lstatSync(path).isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path],
  );
}

/** Java and Python keep settings of theirs in folders with their version. */
function etcNames(): string[] {
  return [...ETC, ...readdirSync('/etc').filter((name) => /^(?:java|python3)/.test(name))];
}

/** The devices of NVIDIA's GPUs. */
export function gpuDevices(): string[] {
  return readdirSync('/dev')
    .filter((name) => name.startsWith('nvidia'))
    .map((name) => `/dev/${name}`);
}

/** What jobs need to read of the machine. */
export interface NeededPaths {
  /** Files, and folders of programs such as Spark and Java; null where there is none. */
  paths: readonly (string | null)[];
  /** The interpreter of PySpark. */
  python: string;
}

/**
 * What has to be visible for that: the paths themselves, the places that they link to and, of a Python environment, the
 * Python that it was made of. What the system's own folders hold is visible anyway.
 */
export function visiblePaths({ paths, python }: NeededPaths): string[] {
  const needed = new Set(paths.filter((path) => path !== null).flatMap((path) => [resolve(path), realpathOf(path)]));
  // A bare name is looked up in the folders of the system, which are visible anyway: it is in none of the agent's.
  for (const link of python.includes('/') ? linksOf(resolve(python)) : []) {
    const prefix = dirname(dirname(link));
    needed.add(prefix);
    const home = /^home\s*=\s*(.+)$/m.exec(textOf(join(prefix, 'pyvenv.cfg')))?.[1]?.trim();
    if (home) needed.add(dirname(home));
  }
  // A program directly below the root would make all of the machine visible.
  const outside = [...needed].filter((path) => existsSync(path) && path !== '/' && !OF_SYSTEM.test(path));
  // A folder shows what is in it.
  return outside.filter((path) => !outside.some((other) => other !== path && path.startsWith(`${other}/`))).sort();
}

/** The path and each that it links to, one after the other. */
function linksOf(path: string): string[] {
  const found = [path];
  for (let tries = 0; tries < 40; tries++) {
    const last = found[found.length - 1] ?? '';
    let target: string;
    try {
      target = readlinkSync(last);
    } catch {
      return found;
    }
    found.push(isAbsolute(target) ? target : resolve(dirname(last), target));
  }
  return found;
}

function realpathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
