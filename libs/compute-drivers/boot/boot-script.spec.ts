import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { markedProcesses, NODE_MARK, signal } from '../../node-agent/processes';
import { eventually } from '../../testing/eventually';
import { plainNodeSpec } from '../compute-driver.contract';
import { type BootScriptOptions, makeBootScript } from './boot-script';

jest.setTimeout(60_000);

/** Writes down how it was started, gets a token of its own, and lives until it is asked to end. */
const AGENT = `
const { appendFileSync, readFileSync, writeFileSync } = require('node:fs');
const config = JSON.parse(readFileSync(process.argv[2], 'utf8'));
process.on('SIGTERM', () => process.exit(0));
appendFileSync(config.node_dir + '/starts', process.pid + '\\n');
writeFileSync(config.node_dir + '/agent.json', JSON.stringify({ node_token: 'its own' }));
setInterval(() => undefined, 1000);
`;

/** Waits until the expectation is met. */
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
  /** What the server has, and what it was asked. */
  let served: Map<string, Buffer | string>;
  let asked: { path: string; authorization: string | undefined; body: string }[];

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'boot-script-'));
    root = join(folder, 'platform');
    [served, asked] = [new Map<string, Buffer | string>([[`/agent/v1/bundle/${sha256(AGENT)}`, AGENT]]), []];
    server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        const path = request.url ?? '';
        const body = Buffer.concat(parts).toString();
        asked.push({ path, authorization: request.headers.authorization, body });
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

  /** A prepared image: programs that are there, the real Node among them. */
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

  /** The same as archives on a mirror. */
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

  const spec = () => {
    const plain = plainNodeSpec('a', '3.5.9');
    return { ...plain, boot: { ...plain.boot, agentApiUrl: base, bootstrapToken: 'once-only' } };
  };

  const scriptOf = (options: Partial<BootScriptOptions> = {}, notice: 'aws' | null = 'aws') =>
    makeBootScript({ agentSha256: sha256(AGENT), mirror: null, items: [], ca: null, ...options })(spec(), notice);

  /** As the provider does it: from a file, with nothing of this process. Answers its exit code. */
  const boot = (script: string, env: Record<string, string> = {}): Promise<number | null> => {
    const file = join(folder, 'user-data');
    writeFileSync(file, script);
    const own = {
      PATH: process.env['PATH'],
      PLATFORM_ROOT: root,
      PLATFORM_ADDRESS: '127.0.0.9',
      PLATFORM_UIDS: '',
      PLATFORM_SYSTEMD: 'no',
      PLATFORM_RETRY_SECONDS: '0.05',
      PLATFORM_METADATA_URL: 'http://127.0.0.9:1',
      // By which everything of the machine is found.
      [NODE_MARK]: root,
      ...env,
    };
    const child = spawn('/bin/sh', [file], { env: own, stdio: 'ignore' });
    return new Promise((resolve) => child.once('exit', resolve));
  };

  const config = () => JSON.parse(readFileSync(join(root, 'node', 'agent.json'), 'utf8')) as Record<string, unknown>;
  const starts = (): string[] => {
    const file = join(root, 'node', 'data', 'starts');
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  };

  it('starts the agent on a prepared image, once however often it runs, and forgets the token', async () => {
    prepare();
    expect(await boot(scriptOf())).toBe(0);
    await holds(() => expect(starts()).toHaveLength(1));
    await holds(() => expect(config()['bootstrap_token']).toBe('spent'));
    expect(config()).toEqual({
      api_url: base,
      bootstrap_token: 'spent',
      node_dir: `${root}/node/data`,
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

  it('starts an agent again that was killed, and none that has ended by itself', async () => {
    prepare();
    await boot(scriptOf());
    await holds(() => expect(starts()).toHaveLength(1));
    signal(Number(starts()[0]), 'SIGKILL');
    await holds(() => expect(starts()).toHaveLength(2));
    signal(Number(starts()[1]), 'SIGTERM');
    await holds(() => expect(processes()).toEqual([]));
    expect(starts()).toHaveLength(2);
  });

  it('installs everything from the mirror, and fetches nothing twice', async () => {
    const script = scriptOf({ items: onMirror(), mirror: `${base}/mirror` });
    expect(await boot(script)).toBe(0);
    await holds(() => expect(starts()).toHaveLength(1));
    const fetched = asked.length;
    expect(fetched).toBe(5);
    expect(await boot(script)).toBe(0);
    expect(asked).toHaveLength(fetched);
  });

  it('waits for an API of this release', async () => {
    prepare();
    const path = `/agent/v1/bundle/${sha256(AGENT)}`;
    served.delete(path);
    const booted = boot(scriptOf());
    await holds(() => expect(asked.length).toBeGreaterThan(2));
    served.set(path, AGENT);
    expect(await booted).toBe(0);
    await holds(() => expect(starts()).toHaveLength(1));
  });

  const told = () => asked.filter(({ path }) => path === '/agent/v1/boot-failure');

  it('says why the machine cannot be a node', async () => {
    expect(await boot(scriptOf())).toBe(1);
    expect(told()).toMatchObject([{ authorization: 'Bearer once-only' }]);
    const { error } = JSON.parse(told()[0]?.body ?? '') as { error: string };
    expect(error).toMatch(/failed at looking for what a node needs: The machine has no node \(.*not a prepared one/);
  });

  it('installs nothing whose checksum is another one', async () => {
    const items = onMirror();
    served.set('/mirror/java.tgz', 'something "else"');
    expect(await boot(scriptOf({ items, mirror: `${base}/mirror` }))).toBe(1);
    expect(told()[0]?.body).toMatch(/failed at installing java 1: .*does not have the checksum/);
    expect(existsSync(join(root, 'runtime', 'java'))).toBe(false);
  });

  it('is the same each time, one secret long, and has room for an authority within what EC2 takes', () => {
    const ca = 'x'.repeat(4096);
    const options = { ca, items: onMirror(), mirror: `${base}/mirror` };
    const script = scriptOf(options);
    expect(script).toBe(scriptOf(options));
    expect(script.split('once-only')).toHaveLength(2);
    expect(Buffer.byteLength(script)).toBeLessThan(14_000);
    expect(() => scriptOf({ ca: 'x'.repeat(16_384) })).toThrow(/bytes; 16384 are possible/);
  });

  it('trusts further authorities, whatever is in their text', async () => {
    prepare();
    const ca = `it's "$(touch ${folder}/ran)"\n${rootCertificates[0] ?? ''}`;
    expect(await boot(scriptOf({ ca }))).toBe(0);
    expect(readFileSync(join(root, 'authorities.pem'), 'utf8')).toBe(`${ca}\n`);
    expect(existsSync(join(folder, 'ran'))).toBe(false);
    expect(readFileSync(join(root, 'run-agent'), 'utf8')).toContain(`NODE_EXTRA_CA_CERTS='${root}/authorities.pem'`);
  });

  it('refuses an accelerator that the manifest does not name', () => {
    const items = onMirror();
    const plain = spec();
    const wanted = { ...plain, boot: { ...plain.boot, accelerator: 'turbo' as const } };
    const make = makeBootScript({ agentSha256: sha256(AGENT), mirror: base, items, ca: null });
    expect(() => make(wanted, null)).toThrow('RUNTIME_MANIFEST names no turbo for Spark 3.5.9.');
  });
});
