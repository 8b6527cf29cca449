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
import { shellQuoted } from '../spark/shell-quoted';
import { removeFilesOf } from './files';
import { hasProcesses, killUser, NODE_MARK } from './processes';

/** The isolation of user code on a node from the platform, from the agent and from other user code. */
export type Confinement =
  /**
   * Each sandbox has its own user id, from `firstUid` to the next `uids - 1`, which requires a root agent. With `bubblewrap`, a path,
   * it also sees only the processes and files that it needs. It is null in containers, which may not create namespaces.
   */
  | { kind: 'users'; firstUid: number; uids: number; bubblewrap: string | null }
  /** Each sandbox has its own namespaces, in which the processes and files of others do not exist. */
  | { kind: 'namespaces'; bubblewrap: string }
  /** Everything that runs on the node can do whatever the agent can. */
  | { kind: 'none' };

/** The location of a sandbox, and the parts of the machine that it sees. */
export interface SandboxOptions {
  /** The agent's folder for the sandbox. Confined processes can write to `box` in it and to nothing else. */
  dir: string;
  /** Index of the node's user, from 0. No two sandboxes have the same index at one time. */
  index: number;
  /** Read-only files and folders of the machine that it needs, such as Spark and Java. */
  visible: readonly string[];
  /** Folders of the machine that all sandboxes share, subject to file permissions. */
  shared: readonly string[];
  /** Devices of the machine besides the usual ones. */
  devices?: readonly string[];
  /** The value of {@link NODE_MARK} in the environment of its processes. */
  mark: string;
}

const SYSTEM = ['usr', 'bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32'];
const SYSTEM_PATH = new RegExp(`^/(?:${SYSTEM.join('|')})(?:/|$)`);
/** PATH outside the sandbox. The variables of the run or daemon take effect only inside. */
const OUTER_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
/** Configuration of the machine that programs need to resolve names, to trust servers and to know the time. */
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
/** A signal to the process group must reach the confined processes, but must not end bubblewrap, whose end would count as theirs. */
const IGNORE_SIGNALS = ['/bin/sh', '-c', `trap '' TERM INT HUP; exec "$@"`, 'sandbox'];
const RESTORE_SIGNALS = ['env', '--default-signal=TERM,INT,HUP'];
const ENTER = ['/bin/sh', '-c', 'cd "$1" && . "$2" && shift 2 && exec "$@"', 'sandbox'];

/** A user, a folder and a view of the machine, to which a run or the daemons of a node are confined. */
export class Sandbox {
  /** The only folder that confined processes can write to. */
  readonly box: string;
  /** The user id of its processes; null if it is the agent's. */
  readonly uid: number | null;
  private readonly options: SandboxOptions;
  private reads = 0;

  /** Relative paths start from the agent's working directory, which does not exist inside. */
  constructor(
    private readonly confinement: Confinement,
    place: SandboxOptions,
  ) {
    const absolute = (paths: readonly string[]) => paths.map((path) => resolve(path));
    const { dir, visible, shared } = place;
    this.options = { ...place, dir: resolve(dir), visible: absolute(visible), shared: absolute(shared) };
    this.box = `${this.options.dir}/box`;
    this.uid = confinement.kind === 'users' ? confinement.firstUid + place.index : null;
  }

  /** Creates its folders, which belong to the agent until {@link chownBox}. Does nothing if they exist. */
  create(folders: readonly string[]): void {
    const { dir } = this.options;
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    chmodSync(dir, folderMode(this.confinement));
    for (const name of ['', ...folders]) mkdirSync(join(this.box, name), { recursive: true, mode: 0o700 });
    const id = this.uid ?? process.getuid?.() ?? 0;
    const gid = this.uid ?? process.getgid?.() ?? 0;
    const user = `spark:x:${id}:${gid}::${this.box}/home:/bin/sh\n`;
    writeFileSync(`${dir}/passwd`, id === 0 ? user : `root:x:0:0::/:/bin/sh\n${user}`, { mode: 0o644 });
    writeFileSync(`${dir}/group`, `spark:x:${gid}:\n`, { mode: 0o644 });
  }

  /** Hands the box to its user. Only allowed while nothing runs in it: a process could create links there meanwhile. */
  chownBox(): void {
    if (this.uid !== null) chownTree(this.box, this.uid);
  }

  /** Hands files of `dir` to its user, without moving them. */
  chown(...files: readonly string[]): void {
    if (this.uid === null) return;
    for (const file of files) lchownSync(`${this.options.dir}/${file}`, this.uid, this.uid);
  }

  /**
   * Returns the command that runs `argv` in the sandbox, with exactly the environment `env` and in `cwd`, a folder of the box. The
   * variables are in a file named after `name`, because every process of a machine can read command lines.
   * @param files further files of `dir` that it may read
   */
  launch(name: string, argv: readonly string[], env: Environment, cwd = '.', files: readonly string[] = []): string[] {
    return this.confined(this.inner(name, argv, env, cwd), [`env-${name}`, ...files], []);
  }

  /** Returns the environment for the command of {@link launch}. */
  environment(): Record<string, string> {
    return { PATH: OUTER_PATH, LANG: 'C.UTF-8', [NODE_MARK]: this.options.mark };
  }

  /**
   * Reads a file with the permissions of the sandbox, because the agent itself must not read paths that users choose. Returns null if the
   * file cannot be read, is longer than `maxBytes` or takes longer than `ms` milliseconds.
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

  /** Kills every process of its user, and removes their files in folders that all users share. */
  async clear(): Promise<void> {
    if (this.confinement.kind !== 'users') return;
    const { uid } = this;
    if (uid === null) return;
    for (let tries = 0; hasProcesses(uid) && tries < 100; tries++) await killUser(uid);
    if (this.confinement.bubblewrap === null) await removeFilesOf(uid, ['/tmp', '/var/tmp', '/dev/shm']);
  }

  /** Returns `argv` with its environment, to be started with the user and the view of the sandbox. */
  private inner(name: string, argv: readonly string[], env: Environment, cwd: string): string[] {
    const file = `${this.options.dir}/env-${name}`;
    rmSync(file, { force: true });
    writeFileSync(file, environmentScript(env), { mode: 0o400, flag: 'wx' });
    this.chown(`env-${name}`);
    return [...ENTER, resolve(this.box, cwd), file, ...argv];
  }

  private confined(inner: readonly string[], files: readonly string[], options: readonly string[]): string[] {
    const { confinement } = this;
    if (confinement.kind === 'none') return [...inner];
    const asUser = confinement.kind === 'users' ? this.asUser() : [];
    if (confinement.bubblewrap === null) return [...asUser, ...inner];
    return [
      ...IGNORE_SIGNALS,
      confinement.bubblewrap,
      ...options,
      ...this.view(files),
      ...asUser,
      ...RESTORE_SIGNALS,
      ...inner,
    ];
  }

  private asUser(): string[] {
    return ['setpriv', `--reuid=${this.uid}`, `--regid=${this.uid}`, '--clear-groups', '--no-new-privs'];
  }

  /** Options for a machine with the system's programs, the visible paths and the box; processes, shared memory and /tmp are its own. */
  private view(files: readonly string[]): string[] {
    const { dir, visible, shared, devices = [] } = this.options;
    const agentFiles = files.map((file) => `${dir}/${file}`);
    const etc = etcNames().map((name) => `/etc/${name}`);
    const folders = ancestorsOf([...etc, ...visible, ...shared, ...agentFiles, this.box]);
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
      ...agentFiles.flatMap(readOnly),
      ...['--bind', this.box, this.box, '--remount-ro', '/', '--'],
    ];
  }
}

/** Mode of the parent folders of a box. A user without a view of its own has to traverse them, but cannot list them. */
export function folderMode(confinement: Confinement): number {
  return confinement.kind === 'users' && confinement.bubblewrap === null ? 0o711 : 0o700;
}

type Environment = Readonly<Record<string, string>>;

/** Returns true if a shell can have a variable of this name. */
export function isVariableName(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name);
}

function environmentScript(env: Environment): string {
  const lines = Object.entries(env)
    .filter(([name]) => isVariableName(name) && name !== NODE_MARK)
    .map(([name, value]) => `export ${name}=${shellQuoted(value.replaceAll('\0', ''))}`);
  return [...lines, ''].join('\n');
}

/** Returns the parent folders of paths, each after its own parent. Those that bubblewrap creates by itself only admit root. */
function ancestorsOf(paths: readonly string[]): string[] {
  const found = new Set<string>();
  for (const path of paths) for (let up = dirname(path); up !== '/'; up = dirname(up)) found.add(up);
  return [...found].sort();
}

function chownTree(path: string, uid: number): void {
  lchownSync(path, uid, uid);
  if (!lstatSync(path).isDirectory()) return;
  for (const name of readdirSync(path)) chownTree(join(path, name), uid);
}

function systemFolders(): string[] {
  const folders = SYSTEM.map((name) => `/${name}`).filter((path) => existsSync(path));
  return folders.flatMap((path) =>
    lstatSync(path).isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path],
  );
}

/** Java and Python keep settings in folders whose names include their version. */
function etcNames(): string[] {
  return [...ETC, ...readdirSync('/etc').filter((name) => /^(?:java|python3)/.test(name))];
}

/** Returns the devices of NVIDIA's GPUs. */
export function gpuDevices(): string[] {
  return readdirSync('/dev')
    .filter((name) => name.startsWith('nvidia'))
    .map((name) => `/dev/${name}`);
}

/** The paths of the machine that jobs must be able to read. */
export interface NeededPaths {
  /** Files and program folders such as those of Spark and Java; null for those that the machine lacks. */
  paths: readonly (string | null)[];
  /** The Python interpreter of PySpark. */
  python: string;
}

/**
 * Returns the paths that a sandbox must see: the paths themselves, the targets of their links and, for a Python environment, the Python
 * that it was created from. The system's own folders are always visible.
 */
export function visiblePaths({ paths, python }: NeededPaths): string[] {
  const needed = new Set(paths.filter((path) => path !== null).flatMap((path) => [resolve(path), realpathOf(path)]));
  // A bare name is in one of the system's folders, which are visible anyway, and never in the agent's.
  for (const link of python.includes('/') ? linksOf(resolve(python)) : []) {
    const prefix = dirname(dirname(link));
    needed.add(prefix);
    const home = /^home\s*=\s*(.+)$/m.exec(textOf(join(prefix, 'pyvenv.cfg')))?.[1]?.trim();
    if (home) needed.add(dirname(home));
  }
  // A program directly below the root would make the whole machine visible.
  const outside = [...needed].filter((path) => existsSync(path) && path !== '/' && !SYSTEM_PATH.test(path));
  // A folder includes its content.
  return outside.filter((path) => !outside.some((other) => other !== path && path.startsWith(`${other}/`))).sort();
}

/** Returns the path and the chain of links that it leads through. */
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
