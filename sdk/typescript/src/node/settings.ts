// Address and credentials of the platform, from the environment, a profile or the quickstart's file; never from code.
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { ConfigurationError } from '../errors.ts';
import { checkedToken, PasswordSession, TokenSession } from '../sessions.ts';
import type { Session } from '../transport.ts';

const DEFAULT_PROFILE = 'default';

const HOW_TO_CONFIGURE =
  'Set MSP_URL and MSP_TOKEN (or MSP_USERNAME and MSP_PASSWORD), run `msp login`, or run this in the project folder while a quickstart serves.';

export interface Settings {
  url: string;
  token?: string | undefined;
  username?: string | undefined;
  password?: string | undefined;
  /** Id or name of the tenant; needed with a password if the user belongs to several. */
  tenant?: string | undefined;
  /** Allows plain HTTP to other machines, which exposes the token to the network. */
  allowHttp?: boolean;
  /** Where the settings come from, for messages. */
  source?: string;
}

type Texts = Readonly<Record<string, string | undefined>>;

/**
 * Returns the settings of the named profile, or else the first of: the environment, the profile that MSP_PROFILE names or that is
 * called `default`, and a quickstart that serves from this folder.
 */
export function loadSettings(profile?: string, env: Texts = process.env): Settings {
  if (profile === undefined && env['MSP_URL']) {
    const values = { url: env['MSP_URL'], token: env['MSP_TOKEN'], username: env['MSP_USERNAME'] };
    const others = { password: env['MSP_PASSWORD'], tenant: env['MSP_TENANT'], allow_http: env['MSP_ALLOW_HTTP'] };
    return settingsOf({ ...values, ...others }, 'the environment');
  }
  const file = profileFile(env);
  const name = profile ?? (env['MSP_PROFILE'] || undefined);
  const found = profileOf(file, name ?? DEFAULT_PROFILE);
  if (found) return found;
  if (name !== undefined) {
    throw new ConfigurationError(`${file} has no profile ${name}. Run \`msp login --profile ${name}\`.`);
  }
  const quickstart = join(env['RUNTIME_DIR'] || '.runtime', 'quickstart.json');
  const text = privateText(quickstart);
  if (text !== undefined) return quickstartSettings(quickstart, text);
  throw new ConfigurationError(`No settings for the platform were found. ${HOW_TO_CONFIGURE}`);
}

/** @throws ConfigurationError if the settings are not valid, or would expose the token */
export function checked(settings: Settings): Settings {
  const { url, token, username, password, allowHttp = false, source = 'the settings' } = settings;
  const { protocol, hostname, username: user, password: secret } = parsedUrl(url, source);
  if (user || secret)
    throw new ConfigurationError(`The URL of ${source} must not contain a password. ${HOW_TO_CONFIGURE}`);
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  if (protocol === 'http:' && !isLocal && !allowHttp) {
    throw new ConfigurationError(
      `The URL of ${source} would send the token unencrypted to ${hostname}. Use https, or allow it with ` +
        'MSP_ALLOW_HTTP=1 or `allow_http = true` in the profile.',
    );
  }
  if (!token && !(username && password)) {
    throw new ConfigurationError(`${source} has neither a token nor a user name with a password. ${HOW_TO_CONFIGURE}`);
  }
  if (token) checkedToken(token, source);
  // Addresses of the API and of the console are what people copy; the paths of operations begin below both.
  return { ...settings, url: url.trim().replace(/(\/console|\/api\/v1(\/docs)?)?\/*$/, '') };
}

export function sessionOf({ token, username = '', password = '', tenant }: Settings): Session {
  return token ? new TokenSession(token) : new PasswordSession({ username, password, tenant });
}

function profileFile(env: Texts): string {
  const base = env['XDG_CONFIG_HOME'] || join(homedir(), '.config');
  return env['MSP_CONFIG_FILE'] || join(base, 'managed-spark', 'profiles.ini');
}

function profileOf(file: string, name: string): Settings | undefined {
  const values = profilesOf(file).get(name);
  if (!values) return undefined;
  if (!values['url']) {
    throw new ConfigurationError(`The profile ${name} in ${file} has no url. Run \`msp login --profile ${name}\`.`);
  }
  return settingsOf(values, `the profile ${name} in ${file}`);
}

/** Reads the sections of an INI file as `msp login` writes it: lines of `key = value`, and comments. */
function profilesOf(file: string): Map<string, Record<string, string>> {
  const profiles = new Map<string, Record<string, string>>();
  let section: Record<string, string> | undefined;
  for (const line of privateText(file)?.split(/\r?\n/) ?? []) {
    const [, name] = /^\[(.+)\]\s*$/.exec(line) ?? [];
    const [, key = '', value = ''] = /^([^\s=:#;[][^=:]*?)\s*[=:]\s*(.*?)\s*$/.exec(line) ?? [];
    if (name !== undefined) profiles.set(name, (section = profiles.get(name) ?? {}));
    else if (key && section) section[key.toLowerCase()] = value;
    else if (!/^\s*([#;].*)?$/.test(line)) throw new ConfigurationError(`${file} is not a valid profile file.`);
  }
  return profiles;
}

function quickstartSettings(file: string, text: string): Settings {
  try {
    const values = JSON.parse(text) as Record<string, string>;
    return settingsOf({ ...values, url: values['base_url'], tenant: values['tenant_id'] }, `the quickstart's ${file}`);
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    throw new ConfigurationError(`${file} is not the file of a quickstart.`, { cause: error });
  }
}

function settingsOf(values: Texts, source: string): Settings {
  const given = (name: string) => values[name] || undefined;
  return checked({
    url: values['url'] ?? '',
    // Files that hold a token often end with a line break.
    token: given('token')?.trim(),
    username: given('username'),
    password: given('password'),
    tenant: given('tenant'),
    allowHttp: /^(1|true|yes)$/i.test(values['allow_http'] ?? ''),
    source,
  });
}

function parsedUrl(url: string, source: string): URL {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed && /^https?:$/.test(parsed.protocol)) return parsed;
  throw new ConfigurationError(`The URL of ${source} must look like https://host. ${HOW_TO_CONFIGURE}`);
}

/** Reads a file with a secret; undefined if there is none. What others can write could send the caller's data elsewhere. */
function privateText(file: string): string | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(file, 'r');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new ConfigurationError(`${file} cannot be read: ${String(error)}`, { cause: error });
  }
  try {
    const { mode, uid } = fstatSync(descriptor);
    if (process.getuid && (mode & 0o077) !== 0) {
      throw new ConfigurationError(`${file} contains a secret, and others can read it. Run \`chmod 600 ${file}\`.`);
    }
    if (process.getuid && uid !== process.getuid()) {
      throw new ConfigurationError(`${file} belongs to another user. Use a file of your own.`);
    }
    return readFileSync(descriptor, 'utf8');
  } finally {
    closeSync(descriptor);
  }
}
