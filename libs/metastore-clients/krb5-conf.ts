import { assertFileSize, ConfigurationFileError, type HostPort, parseHostPort } from './configuration-file';
import { quoted } from './site-xml';

/** A realm and its servers. */
export interface Krb5Realm {
  name: string;
  kdcs: HostPort[];
  adminServers: HostPort[];
}

/** The part of a krb5.conf that the platform uses; files for its programs are written from it. */
export interface Krb5Conf {
  defaultRealm: string | null;
  realms: Krb5Realm[];
  /** Realms by domains (`.example.org`) and hosts. */
  domainRealm: ReadonlyMap<string, string>;
}

const KRB5_CONF = 'krb5.conf';
const MAX_REALMS = 10;
/** Maximum number of servers of one kind in a realm. */
const MAX_SERVERS = 10;
const MAX_DOMAINS = 100;
const KDC_PORT = 88;
const ADMIN_PORT = 749;

const REALM = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,252})$/;
const DOMAIN = /^\.?[A-Za-z0-9]([A-Za-z0-9._-]{0,252})$/;
const SECTION = /^\[([a-z_]+)\]\*?$/;
const RELATION = /^([^\s={}]+)\s*=\s*(.*)$/;
/** Sections that are ignored. Others are refused, because some, such as `plugins` and `dbmodules`, load code. */
const IGNORED_SECTIONS: readonly string[] = ['logging', 'appdefaults', 'capaths', 'login', 'kdc', 'kdcdefaults'];

/**
 * Reads `default_realm`, `kdc` and `admin_server` of realms, and `domain_realm`; ignores other settings. Throws
 * {@link ConfigurationFileError} for includes, modules, sections that load code, and malformed lines.
 */
export function parseKrb5Conf(text: string): Krb5Conf {
  assertFileSize(KRB5_CONF, text);
  const reader = new Krb5Reader();
  for (const line of text.split(/\r?\n/)) reader.take(line.trim());
  return reader.end();
}

class Krb5Reader {
  private section: string | null = null;
  /** Open braces. */
  private depth = 0;
  private realm: Krb5Realm | null = null;
  private defaultRealm: string | null = null;
  private readonly realms = new Map<string, Krb5Realm>();
  private readonly domainRealm = new Map<string, string>();

  take(line: string): void {
    if (line === '' || line.startsWith('#') || line.startsWith(';')) return;
    if (/^(include|includedir|module)(\s|$)/i.test(line)) {
      refuse('it includes other files or modules. Send the whole content in one file.');
    }
    if (line.startsWith('[')) return this.begin(line);
    if (line === '}' || line === '}*') return this.close();
    const [, tag, value] = RELATION.exec(line) ?? refuse(`the line ${quoted(line)} is not of the form name = value.`);
    if (this.section === null) refuse(`${quoted(tag ?? '')} is outside of any section.`);
    this.relation(tag ?? '', (value ?? '').trim());
  }

  end(): Krb5Conf {
    if (this.depth > 0) refuse('a brace is not closed.');
    if (this.realms.size === 0) refuse('[realms] has no realm. At least one realm with its kdc is required.');
    for (const { name, kdcs } of this.realms.values()) {
      if (kdcs.length === 0) refuse(`the realm ${quoted(name)} has no kdc.`);
    }
    return { defaultRealm: this.defaultRealm, realms: [...this.realms.values()], domainRealm: this.domainRealm };
  }

  private begin(line: string): void {
    const name = SECTION.exec(line)?.[1] ?? refuse(`${quoted(line)} is not a valid section header.`);
    if (this.depth > 0) refuse(`a brace is not closed before [${name}].`);
    if (!['libdefaults', 'realms', 'domain_realm', ...IGNORED_SECTIONS].includes(name)) {
      refuse(`it has the section [${name}], which is not accepted.`);
    }
    this.section = name;
  }

  private close(): void {
    if (this.depth === 0) refuse('a brace is closed that was not opened.');
    this.depth -= 1;
    if (this.depth === 0) this.realm = null;
  }

  private relation(tag: string, value: string): void {
    if (value === '{') return this.open(tag);
    if (/[{}]/.test(value)) refuse(`braces belong on lines of their own: ${quoted(tag)}.`);
    const text = value.replace(/^"(.*)"$/, '$1');
    if (this.section === 'libdefaults' && this.depth === 0 && tag === 'default_realm') this.defaultRealm = realm(text);
    else if (this.section === 'domain_realm') this.addDomain(tag, text);
    else if (this.realm && this.depth === 1) this.addServer(this.realm, tag, text);
  }

  private open(tag: string): void {
    if (this.depth === 0 && this.section === 'realms') this.realm = this.realmCalled(realm(tag));
    this.depth += 1;
    if (this.depth > 3) refuse('braces are nested too deeply.');
  }

  private realmCalled(name: string): Krb5Realm {
    const known = this.realms.get(name);
    if (known) return known;
    if (this.realms.size >= MAX_REALMS) refuse(`it has more than ${MAX_REALMS} realms.`);
    const made: Krb5Realm = { name, kdcs: [], adminServers: [] };
    this.realms.set(name, made);
    return made;
  }

  private addServer({ name, kdcs, adminServers }: Krb5Realm, tag: string, text: string): void {
    if (tag !== 'kdc' && tag !== 'admin_server') return;
    const [list, port] = tag === 'kdc' ? [kdcs, KDC_PORT] : [adminServers, ADMIN_PORT];
    if (list.length >= MAX_SERVERS) refuse(`the realm ${quoted(name)} has more than ${MAX_SERVERS} entries of ${tag}.`);
    // A protocol such as tcp/, a path and the URL of a proxy are not supported.
    list.push(parseHostPort(text, port) ?? refuse(`${tag} of the realm ${quoted(name)} must be host or host:port.`));
  }

  private addDomain(domain: string, realmName: string): void {
    if (!DOMAIN.test(domain)) refuse(`${quoted(domain)} is not a domain.`);
    if (this.domainRealm.size >= MAX_DOMAINS) refuse(`[domain_realm] has more than ${MAX_DOMAINS} domains.`);
    this.domainRealm.set(domain, realm(realmName));
  }
}

function realm(name: string): string {
  return REALM.test(name) ? name : refuse(`${quoted(name)} is not the name of a realm.`);
}

function refuse(reason: string): never {
  throw new ConfigurationFileError(KRB5_CONF, reason);
}
