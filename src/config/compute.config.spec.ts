import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { type ComputeConfig, readComputeConfig } from './compute.config';
import { EnvReader } from './env-reader';

function read(variables: Record<string, string>): ComputeConfig {
  const env = new EnvReader(variables);
  const config = readComputeConfig(env);
  env.assertValid();
  return config;
}

describe('readComputeConfig', () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'compute-config-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const fileOf = (content: string): string => {
    const file = join(folder, 'ca.pem');
    writeFileSync(file, content);
    return file;
  };

  it('has no local nodes and verifies every certificate unless told otherwise', () => {
    expect(read({})).toEqual({ local: null, onPremTrust: { ca: null, unverifiedHosts: [] } });
  });

  it('reads hosts whose certificates are not verified', () => {
    const { onPremTrust } = read({ ONPREM_TLS_UNVERIFIED: 'PVE.example.org, 10.0.0.5:8006,[fd00::5]:8006' });
    expect(onPremTrust.unverifiedHosts).toEqual(['pve.example.org', '10.0.0.5:8006', '[fd00::5]:8006']);
  });

  it.each(['https://pve', 'pve/', 'root@pve', 'pve:port', '*', '*.example.org'])('takes no host %p', (host) => {
    expect(() => read({ ONPREM_TLS_UNVERIFIED: host })).toThrow('ONPREM_TLS_UNVERIFIED must be a list of host');
  });

  it('reads further authorities, and refuses a file that holds none', () => {
    const [cert = ''] = rootCertificates;
    expect(read({ ONPREM_CA_FILE: fileOf(`${cert}\n${cert}`) }).onPremTrust.ca).toBe(`${cert}\n${cert}`);
    for (const content of [
      '',
      'no certificate',
      `${cert}\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----`,
    ]) {
      expect(() => read({ ONPREM_CA_FILE: fileOf(content) })).toThrow('ONPREM_CA_FILE');
    }
    expect(() => read({ ONPREM_CA_FILE: join(folder, 'absent.pem') })).toThrow('ONPREM_CA_FILE');
  });
});
