import { randomUUID } from 'node:crypto';
import { isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import {
  Client,
  ConstraintViolationError,
  type Entry,
  InappropriateAuthError,
  InvalidCredentialsError,
  NoSuchObjectError,
  UnwillingToPerformError,
} from 'ldapts';
import {
  type DirectoryGroup,
  type DirectoryGroupWithMembers,
  DirectoryRefusalError,
  DirectoryUnavailableError,
  type DirectoryUser,
  usableText,
} from './directory';

/** The server's address and the way it describes people and groups. Filters follow RFC 4515, with `{placeholders}`. */
export interface LdapSettings {
  /** `ldap://` or `ldaps://`, host and port. */
  url: string;
  /** Encrypts an `ldap://` connection before anything else is sent. */
  startTls: boolean;
  /** Certificate authorities that are trusted instead of the usual ones, PEM. */
  ca: string | null;
  /** True if the server's certificate is verified. */
  verify: boolean;
  /** The account that searches; null searches anonymously. */
  bindDn: string | null;
  bindPassword: string;
  userBaseDn: string;
  /** Finds a user by `{username}`. */
  userFilter: string;
  usernameAttribute: string;
  emailAttribute: string;
  displayNameAttribute: string;
  /** Null imports no groups. */
  groupBaseDn: string | null;
  /** Finds the groups of a user by `{dn}` or `{username}`. */
  groupFilter: string;
  groupNameAttribute: string;
  groupMailAttribute: string;
  /** An id that outlives a renaming. */
  groupIdAttribute: string;
  /** The attribute of a user that lists the groups; null to search with `groupFilter` instead. */
  memberOfAttribute: string | null;
  /** Deadline of one call, milliseconds; reading the members of a group may take six times as long. */
  timeoutMs: number;
}

const GROUP_CLASSES = ['groupOfNames', 'groupOfUniqueNames', 'posixGroup', 'group'];
const IS_GROUP = `(|${GROUP_CLASSES.map((name) => `(objectClass=${name})`).join('')})`;
const MEMBER_NAMES = ['member', 'uniqueMember'];
const MEMBER_USERNAMES = 'memberUid';
const MAX_GROUPS = 1000;
const MAX_MEMBERS = 10_000;
const PARALLEL_READS = 20;
const PAGE_SIZE = 500;
const MEMBERS_TIMEOUT_FACTOR = 6;
const NO_RESPONSE = 'does not answer';

/**
 * Reads people and groups from an LDAP server. Each call opens its own connection, which has a deadline. Every method
 * throws `DirectoryUnavailableError` if the server does not answer in time, cannot be trusted or refuses the search.
 */
export class LdapDirectory {
  /** Host and port. */
  readonly server: string;
  private readonly host: string;

  constructor(private readonly settings: LdapSettings) {
    const { protocol, hostname, port } = new URL(settings.url);
    this.host = hostname.replace(/^\[(.*)\]$/, '$1');
    this.server = `LDAP server ${hostname}:${port === '' ? (protocol === 'ldaps:' ? '636' : '389') : port}`;
  }

  /** Returns the user with its groups; null if the password is wrong or the user does not exist. */
  async authenticate(username: string, password: string): Promise<DirectoryUser | null> {
    // A bind with a name and an empty password succeeds as nobody (RFC 4513, 5.1.2).
    if (password === '') return null;
    return this.withConnection(async (client) => {
      const entry = await this.findUserEntry(client, username);
      // An unknown user costs a refused bind like a wrong password, so that timing does not distinguish them.
      const dn = entry?.dn ?? `cn=${randomUUID()},${this.settings.userBaseDn}`;
      if (!(await accepts(client, dn, password)) || !entry) return null;
      await this.bindSearcher(client);
      return this.userOf(entry, await this.groupsOf(client, entry));
    });
  }

  async findUser(username: string): Promise<DirectoryUser | null> {
    return this.withConnection(async (client) => {
      const entry = await this.findUserEntry(client, username);
      return entry ? this.userOf(entry, await this.groupsOf(client, entry)) : null;
    });
  }

  /** Returns the group with all members that match the user filter; their other groups are not read. */
  async findGroup(name: string): Promise<DirectoryGroupWithMembers | null> {
    return this.withConnection(async (client) => {
      const filter = `(&${IS_GROUP}(${this.settings.groupNameAttribute}=${escaped(name)}))`;
      const found = await this.searchGroups(client, filter, [...MEMBER_NAMES, MEMBER_USERNAMES]);
      if (found.length > 1) throw new DirectoryRefusalError(`The ${this.server} has several groups named ${name}.`);
      const [entry] = found;
      if (!entry) return null;
      const members = await this.membersOf(client, entry);
      return { group: this.groupOf(entry), members: members.map((member) => this.userOf(member, null)) };
    }, MEMBERS_TIMEOUT_FACTOR);
  }

  private async withConnection<T>(work: (client: Client) => Promise<T>, timeoutFactor = 1): Promise<T> {
    const timeoutMs = this.settings.timeoutMs * timeoutFactor;
    const client = this.createClient();
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`${NO_RESPONSE} within ${timeoutMs / 1000} seconds`)), timeoutMs);
    });
    try {
      return await Promise.race([this.connect(client).then(() => work(client)), timeout]);
    } catch (error) {
      if (error instanceof DirectoryUnavailableError || error instanceof DirectoryRefusalError) throw error;
      throw new DirectoryUnavailableError(this.server, reasonOf(error), { cause: error });
    } finally {
      clearTimeout(timer);
      client.unbind().catch(() => undefined);
    }
  }

  private createClient(): Client {
    const { url, timeoutMs } = this.settings;
    const secure = url.startsWith('ldaps:');
    return new Client({
      url,
      timeout: timeoutMs,
      connectTimeout: timeoutMs,
      ...(secure ? { tlsOptions: this.tlsOptions() } : {}),
    });
  }

  private tlsOptions(): ConnectionOptions {
    const { ca, verify } = this.settings;
    return {
      host: this.host,
      // `servername` must not be an IP address; the certificate is compared with `host` then.
      ...(isIP(this.host) ? {} : { servername: this.host }),
      ...(ca === null ? {} : { ca }),
      rejectUnauthorized: verify,
    };
  }

  private async connect(client: Client): Promise<void> {
    if (this.settings.startTls) await client.startTLS(this.tlsOptions());
    await this.bindSearcher(client);
  }

  private async bindSearcher(client: Client): Promise<void> {
    const { bindDn, bindPassword } = this.settings;
    if (await accepts(client, bindDn ?? '', bindPassword)) return;
    throw new DirectoryUnavailableError(
      this.server,
      'refuses the search account: check LDAP_BIND_DN and LDAP_BIND_PASSWORD',
    );
  }

  private async findUserEntry(client: Client, username: string): Promise<Entry | null> {
    const filter = filled(this.settings.userFilter, { username: escaped(username) });
    const found = await this.searchUsers(client, filter, { sizeLimit: 2 });
    if (found.length > 1) throw new DirectoryRefusalError(`The ${this.server} has several users named ${username}.`);
    return found[0] ?? null;
  }

  private async searchUsers(
    client: Client,
    filter: string,
    options: { sizeLimit: number } | { paged: { pageSize: number } },
  ): Promise<Entry[]> {
    const attributes = this.userAttributes();
    const { searchEntries } = await client.search(this.settings.userBaseDn, {
      scope: 'sub',
      filter,
      attributes,
      ...options,
    });
    return searchEntries;
  }

  private userAttributes(): string[] {
    const { usernameAttribute, emailAttribute, displayNameAttribute, memberOfAttribute } = this.settings;
    const optional = memberOfAttribute === null ? [] : [memberOfAttribute];
    return [usernameAttribute, emailAttribute, displayNameAttribute, 'cn', ...optional];
  }

  private groupAttributes(): string[] {
    const { groupNameAttribute, groupMailAttribute, groupIdAttribute } = this.settings;
    return [groupNameAttribute, groupMailAttribute, groupIdAttribute, 'objectClass'];
  }

  private userOf(entry: Entry, groups: DirectoryGroup[] | null): DirectoryUser {
    const { usernameAttribute, emailAttribute, displayNameAttribute } = this.settings;
    const username = firstText(entry, usernameAttribute);
    if (username === null) {
      throw new DirectoryRefusalError(`The ${this.server} returns no usable ${usernameAttribute} for ${entry.dn}.`);
    }
    return {
      externalId: null,
      username,
      displayName: firstText(entry, displayNameAttribute) ?? firstText(entry, 'cn'),
      email: firstText(entry, emailAttribute),
      groups,
    };
  }

  private async groupsOf(client: Client, entry: Entry): Promise<DirectoryGroup[] | null> {
    const { groupBaseDn, groupFilter, memberOfAttribute } = this.settings;
    if (groupBaseDn === null) return null;
    let entries: Entry[];
    if (memberOfAttribute === null) {
      const username = firstText(entry, this.settings.usernameAttribute) ?? '';
      const filter = filled(groupFilter, { dn: escaped(entry.dn), username: escaped(username) });
      entries = await this.searchGroups(client, `(&${IS_GROUP}${filter})`);
    } else {
      const names = textsOf(entry, memberOfAttribute).filter((dn) => isBelow(dn, groupBaseDn));
      this.assertWithin(names.length, MAX_GROUPS, 'groups');
      const options = { filter: IS_GROUP, attributes: this.groupAttributes(), ...this.rawIds() };
      entries = await readAll(client, names, options);
    }
    this.assertWithin(entries.length, MAX_GROUPS, 'groups');
    return entries.map((group) => this.groupOf(group));
  }

  private async searchGroups(client: Client, filter: string, extraAttributes: string[] = []): Promise<Entry[]> {
    const { groupBaseDn } = this.settings;
    if (groupBaseDn === null) return [];
    const { searchEntries } = await client.search(groupBaseDn, {
      scope: 'sub',
      filter,
      attributes: [...this.groupAttributes(), ...extraAttributes],
      paged: { pageSize: PAGE_SIZE },
      ...this.rawIds(),
    });
    return searchEntries;
  }

  private groupOf(entry: Entry): DirectoryGroup {
    const { groupNameAttribute, groupMailAttribute, groupIdAttribute } = this.settings;
    const classes = textsOf(entry, 'objectClass').map((name) => name.toLowerCase());
    return {
      objectId: idOf(entry, groupIdAttribute) ?? entry.dn,
      name: firstText(entry, groupNameAttribute) ?? entry.dn,
      qualifiedName: entry.dn,
      mail: firstText(entry, groupMailAttribute),
      type: GROUP_CLASSES.find((name) => classes.includes(name.toLowerCase())) ?? null,
    };
  }

  /** Finds the members by the users' own `memberOf` attribute if one is configured, else by the group's list. */
  private async membersOf(client: Client, group: Entry): Promise<Entry[]> {
    const { userFilter, memberOfAttribute } = this.settings;
    const anyUser = filled(userFilter, { username: '*' });
    let members: Entry[];
    if (memberOfAttribute !== null) {
      const filter = `(&${anyUser}(${memberOfAttribute}=${escaped(group.dn)}))`;
      members = await this.searchUsers(client, filter, { paged: { pageSize: PAGE_SIZE } });
    } else {
      const names = MEMBER_NAMES.flatMap((attribute) => textsOf(group, attribute));
      const usernames = textsOf(group, MEMBER_USERNAMES);
      this.assertWithin(names.length + usernames.length, MAX_MEMBERS, 'members');
      const within = names.filter((dn) => isBelow(dn, this.settings.userBaseDn));
      const byName = await readAll(client, within, { filter: anyUser, attributes: this.userAttributes() });
      const byUsername = await inChunks(usernames, (username) => this.findUserEntry(client, username));
      members = [...byName, ...byUsername.filter((entry) => entry !== null)];
    }
    this.assertWithin(members.length, MAX_MEMBERS, 'members');
    return [...new Map(members.map((entry) => [entry.dn.toLowerCase(), entry])).values()];
  }

  private assertWithin(count: number, max: number, kind: string): void {
    if (count <= max) return;
    throw new DirectoryRefusalError(`The ${this.server} lists ${count} ${kind}; at most ${max} can be imported.`);
  }

  /** The id may be bytes instead of text, as in Active Directory. */
  private rawIds(): { explicitBufferAttributes: string[] } {
    return { explicitBufferAttributes: [this.settings.groupIdAttribute] };
  }
}

/** The errors with which servers report a wrong or missing password, or a locked or unknown account. */
const REFUSALS = [
  InvalidCredentialsError,
  InappropriateAuthError,
  UnwillingToPerformError,
  ConstraintViolationError,
  NoSuchObjectError,
];

/** True if the server accepts the password for the name. */
async function accepts(client: Client, dn: string, password: string): Promise<boolean> {
  try {
    await client.bind(dn, password);
    return true;
  } catch (error) {
    if (REFUSALS.some((refusal) => error instanceof refusal)) return false;
    throw error;
  }
}

/** Reads entries by their names; leaves out entries that no longer exist or do not match the filter. */
async function readAll(
  client: Client,
  names: readonly string[],
  options: { filter: string; attributes: string[]; explicitBufferAttributes?: string[] },
): Promise<Entry[]> {
  const read = async (dn: string): Promise<Entry[]> => {
    try {
      return (await client.search(dn, { scope: 'base', ...options })).searchEntries;
    } catch (error) {
      if (error instanceof NoSuchObjectError) return [];
      throw error;
    }
  };
  return (await inChunks(names, read)).flat();
}

async function inChunks<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += PARALLEL_READS) {
    results.push(...(await Promise.all(items.slice(at, at + PARALLEL_READS).map(work))));
  }
  return results;
}

/** Escapes a text for use as a value in a filter (RFC 4515), so that none of it is read as filter syntax. */
export function escaped(value: string): string {
  // eslint-disable-next-line no-control-regex -- NUL is one of the signs to escape
  return value.replaceAll(/[\\*()\u0000]/g, (sign) => `\\${sign.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

/** @param values already escaped; one pass, so that a value that looks like a placeholder stays as it is */
function filled(template: string, values: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
}

function textsOf(entry: Entry, attribute: string): string[] {
  const wanted = attribute.toLowerCase();
  const values = Object.entries(entry).find(([name]) => name !== 'dn' && name.toLowerCase() === wanted)?.[1] ?? [];
  return (Array.isArray(values) ? values : [values]).map((value) =>
    typeof value === 'string' ? value : value.toString('utf8'),
  );
}

function firstText(entry: Entry, attribute: string): string | null {
  return usableText(textsOf(entry, attribute)[0]);
}

function idOf(entry: Entry, attribute: string): string | null {
  const wanted = attribute.toLowerCase();
  const value = Object.entries(entry).find(([name]) => name.toLowerCase() === wanted)?.[1];
  const first = Array.isArray(value) ? value[0] : value;
  if (first === undefined || typeof first === 'string') return usableText(first);
  return wanted === 'objectguid' && first.length === 16 ? guidOf(first) : usableText(first.toString('utf8'));
}

/** Formats a GUID like Active Directory, which reverses the bytes of the first three parts. */
function guidOf(bytes: Buffer): string {
  const hex = (part: Buffer) => part.toString('hex');
  const reversed = (from: number, to: number) => hex(Buffer.from(bytes.subarray(from, to)).reverse());
  return [reversed(0, 4), reversed(4, 6), reversed(6, 8), hex(bytes.subarray(8, 10)), hex(bytes.subarray(10))].join(
    '-',
  );
}

function isBelow(dn: string, base: string): boolean {
  const plain = (text: string) => text.toLowerCase().replaceAll(/\s*([,=])\s*/g, '$1');
  return plain(dn).endsWith(`,${plain(base)}`);
}

function reasonOf(error: unknown): string {
  const { name, message, code } = Object(error) as { name?: unknown; message?: unknown; code?: unknown };
  if (typeof code === 'string') return `cannot be reached (${code})`;
  if (typeof code === 'number') return `refuses the search (${String(name)}, LDAP code ${code})`;
  if (typeof message !== 'string') return 'cannot be used';
  if (message.startsWith(NO_RESPONSE)) return message;
  return /timed? ?out/i.test(message) ? `${NO_RESPONSE} in time` : 'closed the connection';
}
