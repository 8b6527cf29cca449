import { Injectable } from '@nestjs/common';
import type { HostResources } from '../../../../../libs/compute-drivers/host-resources';
import { ProxmoxClient } from '../../../../../libs/compute-drivers/proxmox/proxmox-client';
import { ProxmoxConnections } from '../../../../../libs/compute-drivers/proxmox/proxmox-connections';
import { ProxmoxError, type ProxmoxFault } from '../../../../../libs/compute-drivers/proxmox/proxmox-error';
import { OutboundPolicy } from '../../../../../libs/outbound-policy/outbound-policy';
import { Config } from '../../../../config/config';
import { DomainError, invalid } from '../../../../platform/kernel/errors/domain-error';
import { ENDPOINT_REFUSED } from './cloud-env-keys';

/** Faults that the request or its records cause. All others mean that the hypervisor is unavailable. */
const REFUSALS: Partial<Record<ProxmoxFault, string>> = {
  ADDRESS_REFUSED: ENDPOINT_REFUSED,
  CERTIFICATE_REFUSED: 'ONPREM.CERTIFICATE_REFUSED',
  CREDENTIALS_REFUSED: 'ONPREM.CREDENTIALS_REFUSED',
  NOT_PROXMOX: 'ONPREM.NOT_PROXMOX',
  REFUSED: 'ONPREM.REQUEST_REFUSED',
};

/** Calls Proxmox VE at the endpoints of OnPrem environments. */
@Injectable()
export class Hypervisors {
  private readonly connections: ProxmoxConnections;

  constructor(outbound: OutboundPolicy, { compute }: Config) {
    this.connections = new ProxmoxConnections(outbound, compute.onPremTrust);
  }

  /**
   * Returns the online nodes. Throws 400 with the reason if the hypervisor, the outbound policy or certificate
   * verification refuses the call, and 500 `ONPREM.UNAVAILABLE` if the hypervisor does not respond.
   * @param credentials `USERNAME` and `PASSWORD`
   */
  async onlineHosts(endpoint: string, credentials: Readonly<Record<string, string>>): Promise<HostResources[]> {
    const { USERNAME: username = '', PASSWORD: password = '' } = credentials;
    try {
      return await new ProxmoxClient(this.connections, { endpoint, username, password }).onlineHosts();
    } catch (error) {
      throw error instanceof ProxmoxError ? domainError(error, endpoint) : error;
    }
  }
}

function domainError(error: ProxmoxError, endpoint: string): DomainError {
  const code = REFUSALS[error.fault];
  if (error.fault === 'CERTIFICATE_REFUSED') {
    return invalid(
      'ONPREM.CERTIFICATE_REFUSED',
      `${error.message} An operator can add its certificate authority to the trusted ones.`,
    );
  }
  if (code !== undefined) return invalid(code, error.message);
  const details = { server: new URL(endpoint).host };
  return new DomainError('upstream', 'ONPREM.UNAVAILABLE', `${error.message} Try again later.`, details, {
    cause: error,
  });
}
