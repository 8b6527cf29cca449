import { createSecureContext, rootCertificates } from 'node:tls';
import { AddressRefusedError, type OutboundAgents, type OutboundPolicy } from '../../outbound-policy/outbound-policy';
import { ProxmoxError } from './proxmox-error';

export interface ProxmoxTrust {
  /** PEM of certificate authorities to trust besides the public ones. */
  ca: string | null;
  /** Hosts whose certificates are not verified, as `host` or `host:port` in lower case. */
  unverifiedHosts: readonly string[];
}

/**
 * Connections to Proxmox VE through the outbound policy. They are not kept alive: the server closes idle connections, and a
 * change sent on a closing connection looks like one that failed half-way.
 */
export class ProxmoxConnections {
  private readonly verified: OutboundAgents;
  private readonly unverified: OutboundAgents;

  constructor(
    private readonly policy: OutboundPolicy,
    private readonly trust: ProxmoxTrust,
  ) {
    const { ca } = trust;
    // The context is created once, because parsing all authorities takes milliseconds.
    const secureContext = ca === null ? undefined : createSecureContext({ ca: [...rootCertificates, ca] });
    this.verified = policy.agentsWith({ secureContext });
    this.unverified = policy.agentsWith({ rejectUnauthorized: false });
  }

  /** Returns the base URL of the API. Throws a {@link ProxmoxError} if the outbound policy refuses it. */
  apiUrl(endpoint: string): URL {
    try {
      const { origin, pathname } = this.policy.assertUrl(endpoint);
      return new URL(`${origin}${pathname.replace(/\/+(api2(\/json)?\/*)?$/, '')}/api2/json`);
    } catch (error) {
      if (!(error instanceof AddressRefusedError)) throw error;
      throw new ProxmoxError('ADDRESS_REFUSED', error.message, { cause: error });
    }
  }

  agentsFor({ hostname, port }: URL): OutboundAgents {
    const names = [hostname, `${hostname}:${port === '' ? '443' : port}`];
    return names.some((name) => this.trust.unverifiedHosts.includes(name)) ? this.unverified : this.verified;
  }
}
