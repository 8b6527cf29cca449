import { createSecureContext, rootCertificates } from 'node:tls';
import { AddressRefusedError, type OutboundAgents, type OutboundPolicy } from '../../outbound-policy/outbound-policy';
import { ProxmoxError } from './proxmox-error';

/** How far certificates are trusted. */
export interface ProxmoxTrust {
  /** PEM of authorities to trust besides the usual ones. */
  ca: string | null;
  /** `host` or `host:port`, in lower case, whose certificates are not verified. */
  unverifiedHosts: readonly string[];
}

/**
 * Connections to Proxmox VE through the outbound policy. They are not kept: the server closes idle ones, and a change
 * sent on a closing connection could not be distinguished from one that failed half-way.
 */
export class ProxmoxConnections {
  private readonly verified: OutboundAgents;
  private readonly unverified: OutboundAgents;

  constructor(
    private readonly policy: OutboundPolicy,
    private readonly trust: ProxmoxTrust,
  ) {
    const { ca } = trust;
    // Made once: reading all authorities again would cost each connection milliseconds.
    const secureContext = ca === null ? undefined : createSecureContext({ ca: [...rootCertificates, ca] });
    this.verified = policy.agentsWith({ secureContext });
    this.unverified = policy.agentsWith({ rejectUnauthorized: false });
  }

  /** The URL below which the API of the endpoint is; throws {@link ProxmoxError} where the policy refuses it. */
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
