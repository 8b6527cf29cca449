import type { OutboundPolicy } from '../../outbound-policy/outbound-policy';
import { GssIdentity, type KerberosIdentity } from '../kerberos/gss-identity';
import { MetastoreError } from '../metastore-client';
import { GssapiMechanism, PlainMechanism, type SaslMechanism } from './sasl-mechanism';

/** The login of a client at a metastore. */
export type HiveLogin =
  /** No login: the client sends a user name, if there is one, and the metastore trusts it. */
  | { kind: 'none'; user: string | null }
  | { kind: 'plain'; username: string; password: string }
  /** `service` is the metastore's principal, in which `_HOST` stands for the host of the connection. */
  | { kind: 'kerberos'; service: string; identity: KerberosIdentity };

/** Creates the logins for the connections of one client. */
export class HiveAuthentication {
  private readonly identity: GssIdentity | null;

  /** Throws {@link MetastoreError} if the login contains control characters. */
  constructor(
    private readonly login: HiveLogin,
    outbound: OutboundPolicy,
  ) {
    for (const [field, text] of textsOf(login)) assertNoControls(field, text);
    this.identity = login.kind === 'kerberos' ? new GssIdentity(login.identity, outbound) : null;
  }

  /** The user name to send to a metastore without logins; null if there is none. */
  get user(): string | null {
    return this.login.kind === 'none' ? this.login.user : null;
  }

  /** Returns a new login at a host; null for a metastore without logins. */
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

/** Returns the texts of a login that are sent before the server has sent anything. */
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
 * Any server that listens at the address gets these texts, because in Thrift's SASL the client sends first: a line break
 * could start a command in a line-based protocol. RFC 4013 forbids control characters in names and passwords, too.
 */
function assertNoControls(field: string, text: string): void {
  if (!/\p{Cc}/u.test(text)) return;
  throw new MetastoreError(
    'denied',
    `The ${field} of the secret contains a control character, such as a line break at its end. Store the secret without it.`,
  );
}
