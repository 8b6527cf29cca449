import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './eventually';
import { preparedRuntime } from './prepared-runtime';
import { suspend } from './suspend';

const STARTS_WITHIN_MS = 180_000;
const OUTPUT_KEPT = 10_000;

/** A Kerberos realm with a KDC on 127.0.0.1: Hadoop's MiniKdc in a process of its own. */
export class KerberosRealm {
  readonly realm = 'EXAMPLE.ORG';

  private constructor(
    private readonly folder: string,
    private readonly child: ChildProcess,
  ) {}

  /**
   * Starts the KDC, which takes at least two seconds.
   * @param principals names without the realm, such as `hive/127.0.0.1`; the keytab has keys of all of them
   */
  static async start(principals: readonly string[]): Promise<KerberosRealm> {
    const folder = mkdtempSync(join(tmpdir(), 'kerberos-realm-'));
    const properties = join(folder, 'kdc.properties');
    writeFileSync(properties, PROPERTIES);
    const { javaHome } = preparedRuntime();
    const classPath = join(prepared(), '*');
    const keytab = join(folder, 'keytab');
    const child = spawn(
      join(javaHome, 'bin', 'java'),
      [
        ...['-Xmx128m', `-Djava.io.tmpdir=${folder}`, '-cp', classPath, 'org.apache.hadoop.minikdc.MiniKdc'],
        ...[folder, properties, keytab, ...principals],
      ],
      { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    const realm = new KerberosRealm(folder, child);
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-OUTPUT_KEPT)));
    try {
      await eventually(() => output.includes('Standalone MiniKdc Running') && existsSync(keytab), {
        timeoutMs: STARTS_WITHIN_MS,
        what: 'a KDC that runs',
      });
      return realm;
    } catch (error) {
      await realm.stop();
      throw new Error(`The KDC does not start: ${output}`, { cause: error });
    }
  }

  get kdc(): { host: string; port: number } {
    const port = /kdc_tcp_port = (\d+)/.exec(readFileSync(this.javaConf, 'utf8'))?.[1];
    return { host: '127.0.0.1', port: Number(port) };
  }

  /** A krb5.conf like those of users. */
  get conf(): string {
    const { host, port } = this.kdc;
    return [
      ...['[libdefaults]', `default_realm = ${this.realm}`, 'udp_preference_limit = 1'],
      ...['[realms]', `${this.realm} = {`, `kdc = ${host}:${port}`, '}', ''],
    ].join('\n');
  }

  /** The path of the keytab. */
  get keytab(): string {
    return join(this.folder, 'keytab');
  }

  /** The krb5.conf for programs in Java. */
  get javaConf(): string {
    return join(this.folder, 'krb5.conf');
  }

  /** The KDC keeps its port, but does not respond until {@link resume}. */
  halt(): Promise<void> {
    return suspend(this.child.pid);
  }

  resume(): void {
    this.child.kill('SIGCONT');
  }

  async stop(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null && this.child.pid !== undefined) {
      const ended = once(this.child, 'exit');
      this.child.kill('SIGKILL');
      await ended;
    }
    await rm(this.folder, { recursive: true, force: true });
  }
}

const PROPERTIES = [
  ...['org.name=EXAMPLE', 'org.domain=ORG', 'kdc.bind.address=127.0.0.1', 'kdc.port=0', 'transport=TCP'],
  ...[
    'instance=DefaultKrbServer',
    'max.ticket.lifetime=86400000',
    'max.renewable.lifetime=604800000',
    'debug=false',
    '',
  ],
].join('\n');

function prepared(): string {
  const folder = process.env['TEST_KERBEROS_SERVER'];
  if (!folder) throw new Error('TEST_KERBEROS_SERVER is not set: jest.config.cjs prepares it');
  return folder;
}
