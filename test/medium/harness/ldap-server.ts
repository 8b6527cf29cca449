import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'ldapts';
import { ServerProcess } from './server-process';

const ROOT_DN = 'cn=root';
const KEYSTORE_PASSWORD = 'only for tests';
export const SEARCHER = { dn: 'cn=searcher,dc=example,dc=org', password: 'of the account that searches' };

/** A real LDAP server with the given entries, on a free port of this machine. */
export class LdapServer {
  private constructor(
    readonly url: string,
    /** PEM file with the certificate of a server that encrypts. */
    readonly caFile: string,
    private readonly process: ServerProcess,
    private readonly rootPassword: string,
  ) {}

  /** @param encryption `ldaps` from the first byte, `start-tls` when the client asks */
  static async start(ldif: string, encryption: 'none' | 'ldaps' | 'start-tls' = 'none'): Promise<LdapServer> {
    const folder = await mkdtemp(join(tmpdir(), 'ldap-'));
    const ldifFile = join(folder, 'people.ldif');
    writeFileSync(ldifFile, ldif);
    const rootPassword = 'of the root';
    const certificate = encryption === 'none' ? null : await makeCertificate(folder);
    const args = [
      ...['-cp', required('TEST_LDAP_SERVER_JAR'), 'com.unboundid.ldap.listener.InMemoryDirectoryServerTool'],
      ...['--baseDN', 'dc=example,dc=org', '--ldifFile', ldifFile],
      ...['--additionalBindDN', ROOT_DN, '--additionalBindPassword', rootPassword],
      // A search needs a login, as on most production servers.
      ...['--authenticationRequiredOperationType', 'search'],
      ...(certificate ? [encryption === 'ldaps' ? '--useSSL' : '--useStartTLS'] : []),
      ...(certificate ? ['--keyStorePath', certificate.keyStore, '--keyStorePassword', KEYSTORE_PASSWORD] : []),
      ...(certificate ? ['--keyStoreType', 'PKCS12'] : []),
    ];
    const { process, firstMatch: told } = await ServerProcess.start(javaTool('java'), args, /listening.*port (\d+)/i);
    const scheme = encryption === 'ldaps' ? 'ldaps' : 'ldap';
    return new LdapServer(`${scheme}://127.0.0.1:${told}`, certificate?.pem ?? '', process, rootPassword);
  }

  /** Variables with which an API uses this server. */
  get environment(): Record<string, string> {
    return {
      AUTH_TYPE: 'LDAP',
      LDAP_URL: this.url,
      LDAP_BIND_DN: SEARCHER.dn,
      LDAP_BIND_PASSWORD: SEARCHER.password,
      LDAP_USER_BASE_DN: 'ou=people,dc=example,dc=org',
      LDAP_GROUP_BASE_DN: 'ou=groups,dc=example,dc=org',
      // A Java process that has just started may respond slowly on a busy machine.
      LDAP_TIMEOUT_MS: '60000',
    };
  }

  /** Changes entries as the server's own administrator. */
  async change(work: (client: Client) => Promise<void>): Promise<void> {
    const client = new Client({ url: this.url, timeout: 60_000, connectTimeout: 60_000 });
    try {
      await client.bind(ROOT_DN, this.rootPassword);
      await work(client);
    } finally {
      await client.unbind();
    }
  }

  stop(): Promise<void> {
    return this.process.stop();
  }

  halt(): Promise<void> {
    return this.process.halt();
  }

  resume(): void {
    this.process.resume();
  }
}

/** A key with a self-signed certificate for the addresses of this machine. */
export async function makeCertificate(folder: string): Promise<{ keyStore: string; pem: string }> {
  const keyStore = join(folder, 'server.p12');
  const pem = join(folder, 'server.pem');
  const keytool = (args: string[]) =>
    promisify(execFile)(javaTool('keytool'), [
      ...args,
      ...['-alias', 'server', '-keystore', keyStore, '-storetype', 'PKCS12', '-storepass', KEYSTORE_PASSWORD],
    ]);
  const names = 'san=ip:127.0.0.1,dns:localhost';
  await keytool(['-genkeypair', '-keyalg', 'EC', '-dname', 'CN=localhost', '-ext', names, '-validity', '2']);
  await keytool(['-exportcert', '-rfc', '-file', pem]);
  return { keyStore, pem };
}

function javaTool(name: string): string {
  const { javaHome } = JSON.parse(readFileSync(required('TEST_RUNTIME_JSON'), 'utf8')) as { javaHome: string };
  return join(javaHome, 'bin', name);
}

function required(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: jest.config.cjs prepares it`);
  return value;
}
