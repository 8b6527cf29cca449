import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { type ComputeConfig, readAgentConfig, readComputeConfig } from './compute.config';
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
    expect(read({})).toEqual({
      local: null,
      clouds: { ec2: null, google: null, azure: null, azureAuthority: null, oci: null },
      boot: { mirror: null, items: [], ca: null },
      onPremTrust: { ca: null, unverifiedHosts: [] },
    });
  });

  it('takes absolute paths alone for what programs in other folders open', () => {
    const local = {
      COMPUTE_LOCAL_ENABLED: 'true',
      COMPUTE_LOCAL_DIR: '/nodes',
      COMPUTE_LOCAL_SPARK_HOMES: '3.5.9=/opt/spark',
      COMPUTE_LOCAL_JAVA_HOME: '/java',
      COMPUTE_LOCAL_PYTHON: '/python',
      COMPUTE_LOCAL_TURBO: '3.5.9=/opt/turbo.jar',
    };
    expect(read(local).local).toMatchObject({
      dir: '/nodes',
      sparks: { '3.5.9': { home: '/opt/spark', turbo: '/opt/turbo.jar', connectors: null } },
    });
    const relative = Object.entries(local).slice(1);
    for (const [name, value] of relative)
      expect(() => read({ ...local, [name]: value.replace('/', '') })).toThrow(
        new RegExp(`^.*\n  - ${name} must be .*absolute path.*$`),
      );
  });

  it('reads where clouds answer', () => {
    const { clouds } = read({ COMPUTE_EC2_ENDPOINT: 'https://vpce-1.ec2.eu-west-1.vpce.amazonaws.com' });
    expect(clouds).toMatchObject({ ec2: 'https://vpce-1.ec2.eu-west-1.vpce.amazonaws.com', oci: null });
    expect(() => read({ COMPUTE_OCI_ENDPOINT: 'iaas' })).toThrow('COMPUTE_OCI_ENDPOINT');
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

describe('the warm drivers of nodes', () => {
  const read = (variables: Record<string, string> = {}) => {
    const env = new EnvReader(variables);
    const { warmDrivers } = readAgentConfig(env);
    env.assertValid();
    return warmDrivers;
  };

  it('are one while the machine is idle, as many as is set, or none', () => {
    expect(read()).toEqual({ maxPerNode: 1, maxCpuPressure: 20 });
    const variables = { COMPUTE_WARM_DRIVERS: '16', COMPUTE_WARM_DRIVERS_MAX_CPU_PRESSURE: '100' };
    expect(read(variables)).toEqual({ maxPerNode: 16, maxCpuPressure: 100 });
    expect(read({ COMPUTE_WARM_DRIVERS: '0' })).toMatchObject({ maxPerNode: 0 });
  });

  it.each([
    ['COMPUTE_WARM_DRIVERS', '17'],
    ['COMPUTE_WARM_DRIVERS', '-1'],
    ['COMPUTE_WARM_DRIVERS_MAX_CPU_PRESSURE', '101'],
  ])('have limits: %s=%s', (name, value) => expect(() => read({ [name]: value })).toThrow(`${name} must be at`));
});

describe('the Maven repository of nodes', () => {
  const read = (url?: string): string => {
    const env = new EnvReader({ MAVEN_REPOSITORY_URL: url });
    const { mavenRepositoryUrl } = readAgentConfig(env);
    env.assertValid();
    return mavenRepositoryUrl;
  };

  it('is Maven Central or the one that is named, with a slash at its end', () => {
    expect(read()).toBe('https://repo1.maven.org/maven2/');
    expect(read('http://Mirror.example:8081/maven2')).toBe('http://mirror.example:8081/maven2/');
  });

  it.each([
    ...['file:///etc', 'mirror', 'https://user:pw@mirror.example/', 'https://mirror.example/?a', 'https://a.example/#'],
    ...['https://a.example/,https://b.example/', 'https://a.example/a b', 'https:\\\\a.example'],
  ])('is not %j', (url) => expect(() => read(url)).toThrow('MAVEN_REPOSITORY_URL must'));
});
