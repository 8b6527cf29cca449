import type { OutboundPolicy } from '../../outbound-policy/outbound-policy';
import { GssIdentity, type KerberosIdentity } from '../kerberos/gss-identity';
import { MetastoreError } from '../metastore-client';
import { GssapiMechanism, PlainMechanism, type SaslMechanism } from './sasl-mechanism';

/** How a client logs in to a metastore. */
export type HiveLogin =
  /** Not at all: the metastore is told a name, if there is one, and believes it. */
  | { kind: 'none'; user: string | null }
  | { kind: 'plain'; username: string; password: string }
  /** `service` is the metastore's principal, in which `_HOST` stands for the host that is called. */
  | { kind: 'kerberos'; service: string; identity: KerberosIdentity };

/** Logs the connections of one client in. */
export class HiveAuthentication {
  private readonly identity: GssIdentity | null;

  /** Throws a {@link MetastoreError} for a login that has control characters. */
  constructor(
    private readonly login: HiveLogin,
    outbound: OutboundPolicy,
  ) {
    for (const [what, text] of textsOf(login)) assertNoControls(what, text);
    this.identity = login.kind === 'kerberos' ? new GssIdentity(login.identity, outbound) : null;
  }

  /** Whom a metastore that asks for no login is told of. */
  get user(): string | null {
    return this.login.kind === 'none' ? this.login.user : null;
  }

  /** A new login at a host; null where there is none. */
  mechanismFor(host: string): SaslMechanism | null {
    const { login, identity } = this;
    if (login.kind === 'plain') return new PlainMechanism(login);
    if (login.kind === 'none' || identity === null) return null;
    return new GssapiMechanism(identity, login.service.replace('/_HOST', `/${host.toLowerCase()}`));
  }

  close(): void {
    this.identity?.close();
  }
}

/** The part of a login that is sent before the server has said anything. */
function textsOf(login: HiveLogin): [string, string][] {
  switch (login.kind) {
    case 'none':
      return [['user name', login.user ?? '']];
    case 'plain':
      return [
        ['user name', login.username],
        ['password', login.password],
      ];
    case 'kerberos':
      return [['principal', login.identity.principal]];
  }
}

/**
 * Whatever listens gets these texts, since SASL of Thrift has the client speak first: a line break in one would be a
 * command to a server of lines. RFC 4013 has no control characters in names and passwords either.
 */
function assertNoControls(what: string, text: string): void {
  if (!/\p{Cc}/u.test(text)) return;
  throw new MetastoreError(
    'denied',
    `The ${what} of the secret contains a control character, such as a line break at its end. Store the secret without it.`,
  );
}
