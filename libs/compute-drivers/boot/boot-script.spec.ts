import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { markedProcesses, NODE_MARK, signal } from '../../node-agent/processes';
import { eventually } from '../../../test/harness/eventually';
import type { NodeSpec } from '../compute-driver';
import { plainNodeSpec } from '../compute-driver.contract';
import { type BootScriptOptions, makeBootScript } from './boot-script';

/** Records its start, gets its own token, and runs until SIGTERM. */
const AGENT = `
const { appendFileSync, readFileSync, writeFileSync } = require('node:fs');
const config = JSON.parse(readFileSync(process.argv[2], 'utf8'));
process.on('SIGTERM', () => process.exit(0));
appendFileSync(config.node_dir + '/starts', process.pid + '\\n');
writeFileSync(config.state_dir + '/agent.json', JSON.stringify({ node_token: 'its own' }));
setInterval(() => undefined, 1000);
`;

/** Waits until the expectation holds. */
const holds = (expectation: () => void) =>
  eventually(() => {
    expectation();
    return true;
  });

const sha256 = (content: Buffer | string): string => createHash('sha256').update(content).digest('hex');

describe('makeBootScript', () => {
  let folder: string;
  let root: string;
  let server: Server;
  let base: string;
  /** Files of the server by path. */
  let served: Map<string, Buffer | string>;
  /** Paths whose requests get no response. */
  let hanging: RegExp | null;
  let asked: { path: string; authorization: string | undefined; body: string }[];

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'boot-script-'));
    root = join(folder, 'platform');
    hanging = null;
    [served, asked] = [new Map<string, Buffer | string>([[`/agent/v1/bundle/${sha256(AGENT)}`, AGENT]]), []];
    server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        const path = request.url ?? '';
        const body = Buffer.concat(parts).toString();
        asked.push({ path, authorization: request.headers.authorization, body });
        if (hanging?.test(path)) return;
        const content = request.method === 'POST' ? '{}' : served.get(path);
        response.writeHead(content === undefined ? 404 : 200).end(content);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  afterEach(async () => {
    await holds(() => {
      const left = processes();
      for (const { pid } of left) signal(pid, 'SIGKILL');
      expect(left).toEqual([]);
    });
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true });
  });

  const processes = () => markedProcesses((dir) => dir === root);

  /** Creates a prepared image: fake programs, and the real Node. */
  const prepare = (): void => {
    for (const [name, program] of PROGRAMS) {
      mkdirSync(join(root, 'runtime', name, 'bin'), { recursive: true });
      writeFileSync(join(root, 'runtime', name, 'bin', program), nodeOr(program));
      chmodSync(join(root, 'runtime', name, 'bin', program), 0o755);
    }
  };

  const PROGRAMS = [
    ['node', 'node'],
    ['java', 'java'],
    ['python', 'python3'],
    ['spark-3.5.9', 'spark-submit'],
  ] as const;
  const nodeOr = (program: string) =>
    program === 'node' ? `#!/bin/sh\nexec '${process.execPath}' "$@"\n` : '#!/bin/sh\n';

  /** Serves the same programs as archives of a mirror. */
  const onMirror = (): BootScriptOptions['items'] => {
    prepare();
    const items = PROGRAMS.map(([folderName]) => {
      const file = join(folder, `${folderName}.tgz`);
      spawnSync('tar', ['-czf', file, '-C', join(root, 'runtime'), folderName]);
      const content = readFileSync(file);
      served.set(`/mirror/${folderName}.tgz`, content);
      const [name = '', sparkVersion = null] = folderName.split('-');
      const path = `${folderName}.tgz`;
      return { name, version: '1', architecture: 'x86_64', sparkVersion, path, sha256: sha256(content) };
    });
    rmSync(root, { recursive: true });
    return items;
  };

  const spec = (): NodeSpec => {
    const plain = { ...plainNodeSpec('a', '3.5.9'), disks: [] };
    return { ...plain, boot: { ...plain.boot, agentApiUrl: base, bootstrapToken: 'once-only' } };
  };

  const scriptOf = (options: Partial<BootScriptOptions> = {}, wanted = spec()) =>
    makeBootScript({ agentSha256: sha256(AGENT), mirror: null, items: [], ca: null, ...options })(wanted, 'aws');

  /** Runs the script as a provider does, from a file and with a clean environment. Returns its exit code. */
  const boot = (script: string, env: Record<string, string> = {}): Promise<number | null> => {
    const file = join(folder, 'user-data');
    writeFileSync(file, script);
    const own = {
      PATH: process.env['PATH'],
      PLATFORM_ROOT: root,
      PLATFORM_ADDRESS: '127.0.0.9',
      PLATFORM_UIDS: '',
      PLATFORM_SYSTEMD: 'no',
      PLATFORM_DISKS: 'no',
      PLATFORM_RETRY_SECONDS: '0.05',
      PLATFORM_METADATA_URL: 'http://127.0.0.9:1',
      // The mark by which the processes of the machine are found.
      [NODE_MARK]: root,
      ...env,
    };
    const child = spawn('/bin/sh', [file], { env: own, stdio: 'ignore' });
    return new Promise((resolve) => child.once('exit', resolve));
  };

  const config = () => JSON.parse(readFileSync(join(root, 'node', 'agent.json'), 'utf8')) as Record<string, unknown>;
  const starts = (): string[] => {
    const file = join(root, 'node', 'data', 'starts');
    // The file exists before its first line does.
    return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
  };

  it('starts one agent on a prepared image even if it runs twice, and removes the token', async () => {
    prepare();
    expect(await boot(scriptOf())).toBe(0);
    await holds(() => expect(starts()).toHaveLength(1));
    await holds(() => expect(config()['bootstrap_token']).toBe('spent'));
    expect(config()).toEqual({
      api_url: base,
      bootstrap_token: 'spent',
      node_dir: `${root}/node/data`,
      state_dir: `${root}/node/state`,
      spark_home: `${root}/runtime/spark-3.5.9`,
      java_home: `${root}/runtime/java`,
      python: `${root}/runtime/python/bin/python3`,
      class_archive: null,
      connectors: null,
      scala_kernel: null,
      turbo: null,
      rapids: null,
      spark_version: '3.5.9',
      cores: 1,
      memory_mb: 512,
      bind_address: '127.0.0.9',
      env: { SPARK_LOCAL_IP: '127.0.0.9' },
      interruption_notice: { kind: 'aws', base_url: 'http://127.0.0.9:1' },
    });
    expect(statSync(join(root, 'node', 'agent.json')).mode & 0o777).toBe(0o600);
    expect(await boot(scriptOf())).toBe(0);
    expect(config()['bootstrap_token']).toBe('spent');
    expect(starts()).toHaveLength(1);
    expect(spawnSync('grep', ['-rl', 'once-only', root]).stdout.toString()).toBe('');
  });

  it('restarts a killed agent, but not one that ended by itself', async () => {
    prepare();
    await boot(scriptOf());
    await holds(() => expect(starts()).toHaveLength(1));
    signal(Number(starts()[0]), 'SIGKILL');
    await holds(() => expect(starts()).toHaveLength(2));
    signal(Number(starts()[1]), 'SIGTERM');
    await holds(() => expect(processes()).toEqual([]));
    expect(starts()).toHaveLength(2);
  });

  it('installs all items from the mirror, and downloads nothing twice', async () => {
    const script = scriptOf({ items: onMirror(), mirror: `${base}/mirror` });
    expect(await boot(script)).toBe(0);
    await holds(() => expect(starts()).toHaveLength(1));
    const fetched = asked.length;
    expect(fetched).toBe(5);
    expect(await boot(script)).toBe(0);
    expect(asked).toHaveLength(fetched);
  });

  it('waits until the API serves the agent of this release', async () => {
    prepare();
    const path = `/agent/v1/bundle/${sha256(AGENT)}`;
    served.delete(path);
    const booted = boot(scriptOf());
    await holds(() => expect(asked.length).toBeGreaterThan(2));
    served.set(path, AGENT);
    expect(await booted).toBe(0);
    await holds(() => expect(starts()).toHaveLength(1));
  });

  const failureReports = () => asked.filter(({ path }) => path === '/agent/v1/boot-failure');

  it('reports why the machine cannot become a node', async () => {
    expect(await boot(scriptOf())).toBe(1);
    expect(failureReports()).toMatchObject([{ authorization: 'Bearer once-only' }]);
    const { error } = JSON.parse(failureReports()[0]?.body ?? '') as { error: string };
    expect(error).toMatch(
      /failed while checking the installed programs: The machine has no node: .*Use a prepared image/,
    );
  });

  it.each(['the mirror', 'the API'])('reports soon that %s hangs', async (who) => {
    const items = who === 'the mirror' ? onMirror() : [];
    if (who === 'the API') prepare();
    hanging = who === 'the mirror' ? /\/mirror\/java/ : /\/bundle\//;
    const script = scriptOf({ items, mirror: `${base}/mirror` });
    expect(await boot(script, { PLATFORM_STALL_SECONDS: '1' })).toBe(1);
    expect(failureReports()[0]?.body).toMatch(
      /cannot be downloaded: the server does not respond, or stops in the middle/,
    );
    expect(asked.filter(({ path }) => hanging?.test(path))).toHaveLength(2);
  });

  describe('with disks for the node', () => {
    const GIB = 2 ** 30;
    let fakes: string;
    let state: string;

    /** Fake programs that inspect and change disks. `$STATE` holds the simulated state. */
    const TOOLS: Record<string, string> = {
      id: 'cat "$STATE/uid"',
      udevadm: 'true',
      lsblk: `for last; do :; done
        case "$last" in
          /dev/*) case "$*" in *MOUNTPOINT*) ;; *) basename "$last"; cat "$STATE/parts-$(basename "$last")" 2>/dev/null ;; esac ;;
          *) cat "$STATE/disks" ;;
        esac`,
      blkid: `case "$1" in
          -p) [ -e "$STATE/signed-$(basename "$2")" ] || exit 2 ;;
          *) cat "$STATE/uuid" 2>/dev/null ;;
        esac`,
      'mkfs.ext4':
        'echo "mkfs.ext4 $*" >>"$STATE/calls"; [ ! -e "$STATE/broken" ] || { echo "no such luck" >&2; exit 1; }; echo some-uuid >"$STATE/uuid"',
      mdadm: 'case "$1" in --assemble) ;; *) echo "mdadm $*" >>"$STATE/calls" ;; esac',
      mount: 'echo "mount $*" >>"$STATE/calls"; touch "$STATE/mounted"',
      mountpoint: '[ -e "$STATE/mounted" ]',
    };

    beforeEach(() => {
      [fakes, state] = [join(folder, 'fakes'), join(folder, 'disks')];
      for (const dir of [fakes, state]) mkdirSync(dir);
      for (const [name, text] of Object.entries(TOOLS))
        writeFileSync(join(fakes, name), `#!/bin/sh\nSTATE='${state}'\n${text}\n`, { mode: 0o755 });
      put('uid', '0');
      prepare();
    });

    const put = (file: string, text = ''): void => writeFileSync(join(state, file), `${text}\n`);
    const attach = (...disks: string[]): void => put('disks', disks.join('\n'));
    const calls = (): string[] => {
      const file = join(state, 'calls');
      // The file exists before its first line does.
      return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
    };
    const disk = { gib: 50, type: 'gp3', iops: null, throughputMb: null, encrypted: false };
    const onMachine = () => ({ PATH: `${fakes}:${process.env['PATH']}`, PLATFORM_DISKS: '', [NODE_MARK]: root });
    const bootWith = (count: number) =>
      boot(scriptOf({}, { ...spec(), disks: Array.from({ length: count }, () => disk) }), onMachine());
    const log = (): string => readFileSync(join(root, 'boot.log'), 'utf8');
    const mounted = () => `mount -o noatime UUID=some-uuid ${root}/node/data`;

    it('puts its folder on the empty disk, and formats it once', async () => {
      attach(`vda disk 0 ${80 * GIB}`, `sdb disk 0 ${50 * GIB}`, 'fd0 disk 0 4096', `sr0 rom 0 ${2 * GIB}`);
      put('signed-vda');
      expect(await bootWith(1)).toBe(0);
      expect(calls()).toEqual(['mkfs.ext4 -q -m 0 -L platform-data /dev/sdb', mounted()]);
      await holds(() => expect(starts()).toHaveLength(1));
      for (const { pid } of processes()) signal(pid, 'SIGKILL');
      await holds(() => expect(processes()).toEqual([]));
      // The machine boots again, and its system runs the script `run-agent`.
      rmSync(join(state, 'mounted'));
      spawn(join(root, 'run-agent'), { env: onMachine(), stdio: 'ignore' });
      await holds(() => expect(starts()).toHaveLength(2));
      expect(calls()).toEqual(['mkfs.ext4 -q -m 0 -L platform-data /dev/sdb', mounted(), mounted()]);
    });

    it.each([
      ['has a signature', () => put('signed-sdb')],
      ['has a partition', () => put('parts-sdb', 'sdb1')],
    ])('does not format a disk that %s, and boots the node without it', async (_what, use) => {
      attach(`sdb disk 0 ${50 * GIB}`);
      use();
      expect(await bootWith(1)).toBe(0);
      expect(calls()).toEqual([]);
      expect(log()).toContain('disks: not mounted: of 1 disks, none is empty');
    });

    it('combines several disks into one', async () => {
      attach(`sdb disk 0 ${50 * GIB}`, `nvme1n1 disk 0 ${60 * GIB}`);
      expect(await bootWith(2)).toBe(0);
      expect(calls()).toEqual([
        'mdadm --create /dev/md/platform --run --level=0 --raid-devices=2 /dev/nvme1n1 /dev/sdb',
        'mkfs.ext4 -q -m 0 -L platform-data /dev/md/platform',
        mounted(),
      ]);
    });

    it('touches no disk without root, or for a node without data disks', async () => {
      attach(`sdb disk 0 ${50 * GIB}`);
      expect(await bootWith(0)).toBe(0);
      put('uid', '1000');
      expect(await bootWith(1)).toBe(0);
      expect(calls()).toEqual([]);
      expect(log()).toContain('disks: not mounted: this is not root');
    });

    it('reports that a disk cannot be formatted', async () => {
      attach(`sdb disk 0 ${50 * GIB}`);
      put('broken');
      expect(await bootWith(1)).toBe(1);
      expect(failureReports()[0]?.body).toMatch(/failed while preparing the disks: .*no such luck/);
    });
  });

  it('refuses an item with a wrong checksum', async () => {
    const items = onMirror();
    served.set('/mirror/java.tgz', 'something "else"');
    expect(await boot(scriptOf({ items, mirror: `${base}/mirror` }))).toBe(1);
    expect(failureReports()[0]?.body).toMatch(/failed while installing java 1: .*does not have the checksum/);
    expect(existsSync(join(root, 'runtime', 'java'))).toBe(false);
  });

  it('is the same each time, contains one secret once, and leaves room for a certificate authority', () => {
    const ca = 'x'.repeat(4096);
    const options = { ca, items: onMirror(), mirror: `${base}/mirror` };
    const script = scriptOf(options);
    expect(script).toBe(scriptOf(options));
    expect(script.split('once-only')).toHaveLength(2);
    expect(Buffer.byteLength(script)).toBeLessThan(14_000);
    expect(() => scriptOf({ ca: 'x'.repeat(16_384) })).toThrow(/bytes, and 16384 are possible/);
  });

  it('trusts more authorities, and does not execute their text', async () => {
    prepare();
    const ca = `it's "$(touch ${folder}/ran)"\n${rootCertificates[0] ?? ''}`;
    expect(await boot(scriptOf({ ca }))).toBe(0);
    expect(readFileSync(join(root, 'authorities.pem'), 'utf8')).toBe(`${ca}\n`);
    expect(existsSync(join(folder, 'ran'))).toBe(false);
    expect(readFileSync(join(root, 'run-agent'), 'utf8')).toContain(`NODE_EXTRA_CA_CERTS='${root}/authorities.pem'`);
  });

  it('refuses an accelerator that the manifest does not have', () => {
    const items = onMirror();
    const plain = spec();
    const wanted = { ...plain, boot: { ...plain.boot, accelerator: 'turbo' as const } };
    const make = makeBootScript({ agentSha256: sha256(AGENT), mirror: base, items, ca: null });
    expect(() => make(wanted, null)).toThrow('RUNTIME_MANIFEST has no turbo for Spark 3.5.9.');
  });
});
