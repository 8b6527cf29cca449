import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigurationError } from '../errors.ts';
import { checked, loadSettings } from './settings.ts';

describe('loadSettings', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'settings-'));
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const written = (name: string, text: string, mode = 0o600): string => {
    const file = join(folder, name);
    writeFileSync(file, text, { mode });
    chmodSync(file, mode);
    return file;
  };
  const profiles = `# by hand
[default]
url = https://one.test/
token: t-1

[two]
URL = http://two.test
username = ada
password = 50%; of = it
tenant = acme
allow_http = yes
`;
  const env = (more: Record<string, string> = {}) => ({ XDG_CONFIG_HOME: folder, RUNTIME_DIR: folder, ...more });
  const MSP_CONFIG_FILE = () => join(folder, 'profiles.ini');

  it('takes the environment before a profile', () => {
    written('profiles.ini', profiles);
    const found = loadSettings(
      undefined,
      env({ MSP_URL: 'https://e.test', MSP_TOKEN: 't', MSP_CONFIG_FILE: MSP_CONFIG_FILE() }),
    );
    expect(found).toMatchObject({ url: 'https://e.test', token: 't', source: 'the environment' });
  });

  it('takes the named profile before the environment', () => {
    written('profiles.ini', profiles);
    const all = env({ MSP_URL: 'https://e.test', MSP_TOKEN: 't', MSP_CONFIG_FILE: MSP_CONFIG_FILE() });
    expect(loadSettings('two', all)).toMatchObject({
      url: 'http://two.test',
      username: 'ada',
      password: '50%; of = it',
      tenant: 'acme',
      allowHttp: true,
    });
    expect(loadSettings(undefined, { ...all, MSP_URL: '' })).toMatchObject({ url: 'https://one.test', token: 't-1' });
    expect(loadSettings(undefined, { ...all, MSP_URL: '', MSP_PROFILE: 'two' })).toMatchObject({ username: 'ada' });
    expect(() => loadSettings('three', all)).toThrow(/has no profile three\. Run `msp login --profile three`\.$/);
  });

  it('takes the file of a quickstart last', () => {
    const values = { base_url: 'http://127.0.0.1:8080', username: 'admin', password: 'p', tenant_id: 't-1' };
    written('quickstart.json', JSON.stringify(values));
    expect(loadSettings(undefined, env())).toMatchObject({ url: values.base_url, username: 'admin', tenant: 't-1' });
    written('quickstart.json', '[');
    expect(() => loadSettings(undefined, env())).toThrow('is not the file of a quickstart.');
  });

  it('says what to do without any', () => {
    expect(() => loadSettings(undefined, env())).toThrow(
      'No settings for the platform were found. Set MSP_URL and MSP_TOKEN',
    );
  });

  it('refuses files that others can read, and files that are no profiles', () => {
    const file = written('profiles.ini', profiles, 0o644);
    expect(() => loadSettings(undefined, env({ MSP_CONFIG_FILE: file }))).toThrow(`Run \`chmod 600 ${file}\`.`);
    const other = written('other.ini', 'url https://x\n');
    expect(() => loadSettings(undefined, env({ MSP_CONFIG_FILE: other }))).toThrow('is not a valid profile file.');
  });

  it.each([
    ['ftp://x', 'must look like https://host'],
    ['x', 'must look like https://host'],
    ['https://ada:secret@x', 'must not contain a password'],
    ['http://spark.example.com', 'would send the token unencrypted to spark.example.com'],
  ])('refuses the URL %s', (url, message) => {
    expect(() => checked({ url, token: 't' })).toThrow(ConfigurationError);
    expect(() => checked({ url, token: 't' })).toThrow(message);
  });

  it('allows plain HTTP to this machine', () => {
    for (const url of ['http://localhost:8080', 'http://127.0.0.1', 'http://[::1]:80']) {
      expect(checked({ url, token: 't' }).url).toBe(url);
    }
  });

  it.each(['https://x/', ' https://x/api/v1', 'https://x/api/v1/docs', 'https://x/console/'])(
    'takes %s for its server',
    (url) => {
      expect(checked({ url, token: 't' }).url).toBe('https://x');
    },
  );

  it('keeps another path', () => {
    expect(checked({ url: 'https://x/spark/', token: 't' }).url).toBe('https://x/spark');
  });

  it('refuses a token that a request cannot carry, and takes one with a line break at its end', () => {
    expect(() => checked({ url: 'https://x', token: 't\n1' })).toThrow('Copy it again, or run `msp login`.');
    expect(() => checked({ url: 'https://x', token: '\u30c8' })).toThrow(ConfigurationError);
    expect(loadSettings(undefined, env({ MSP_URL: 'https://x', MSP_TOKEN: 't-1\n' })).token).toBe('t-1');
  });

  it('needs a token, or a user with a password', () => {
    expect(() => checked({ url: 'https://x', username: 'ada' })).toThrow(
      'has neither a token nor a user name with a password',
    );
  });
});
