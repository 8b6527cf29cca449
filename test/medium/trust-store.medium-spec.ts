import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { promisify } from 'node:util';
import { selfSigned } from '../fakes/http/self-signed';

const run = promisify(execFile);

// Real: the Java of the runtime, which lists the authorities it would trust.
describe('the authorities that a fetched Java trusts', () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'trust-'));
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** The fingerprints that Java reports. */
  async function trusted(system: { stores: string[]; bundles: string[] }): Promise<string[]> {
    const { javaHome } = JSON.parse(readFileSync(process.env['TEST_RUNTIME_JSON'] ?? '', 'utf8')) as {
      javaHome: string;
    };
    const file = join(folder, 'cacerts');
    const module = join(process.cwd(), 'scripts', 'embedded', 'trust-store.mjs');
    const program = `const { writeTrustStore } = await import(${JSON.stringify(module)});
      writeTrustStore(${JSON.stringify(file)}, ${JSON.stringify(system)});`;
    await run(process.execPath, ['--input-type=module', '-e', program]);
    const keytool = join(javaHome, 'bin', 'keytool');
    const { stdout } = await run(keytool, ['-list', '-keystore', file, '-storepass', 'changeit'], {
      maxBuffer: 2 ** 24,
    });
    expect(stdout.match(/trustedCertEntry/g)).toHaveLength(stdout.match(/SHA-256/g)?.length ?? 0);
    return [...stdout.matchAll(/SHA-256\): ([0-9A-F:]{95})/g)].map((match) => match[1] ?? '');
  }

  it('are those of the system', async () => {
    const bundle = join(folder, 'bundle.pem');
    const certificates = [selfSigned().cert, selfSigned().cert];
    writeFileSync(bundle, certificates.join('\n'));
    const expected = certificates.map((pem) => new X509Certificate(pem).fingerprint256);
    expect((await trusted({ stores: [], bundles: [bundle] })).sort()).toEqual(expected.sort());
  });

  it('are those of Node if the system names none', async () => {
    expect(await trusted({ stores: [], bundles: [join(folder, 'absent.pem')] })).toHaveLength(rootCertificates.length);
  });
});
