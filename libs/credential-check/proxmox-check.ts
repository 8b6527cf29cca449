import { ProxmoxClient } from '../compute-drivers/proxmox/proxmox-client';
import type { ProxmoxConnections } from '../compute-drivers/proxmox/proxmox-connections';
import { ProxmoxError } from '../compute-drivers/proxmox/proxmox-error';
import { AddressRefusedError } from '../outbound-policy/outbound-policy';
import {
  CheckUnsupportedError,
  type CredentialCheck,
  notWorking,
  ProviderUnreachableError,
  working,
} from './credential-check';

export interface ProxmoxKeys {
  endpoint: string;
  username: string;
  password: string;
}

/** Logs in and asks for the version, which every account may see. */
export async function checkProxmoxAccount(
  keys: ProxmoxKeys,
  connections: ProxmoxConnections,
  signal: AbortSignal,
): Promise<CredentialCheck> {
  try {
    await new ProxmoxClient(connections, keys).request('GET', '/version', { signal });
    return working(keys.username);
  } catch (error) {
    if (!(error instanceof ProxmoxError)) throw error;
    return refusal(error, keys);
  }
}

function refusal(error: ProxmoxError, { endpoint, password }: ProxmoxKeys): CredentialCheck {
  switch (error.fault) {
    case 'CREDENTIALS_REFUSED':
      return notWorking(error.message, [password]);
    case 'ADDRESS_REFUSED':
      throw new AddressRefusedError(error.message);
    case 'CERTIFICATE_REFUSED':
    case 'NOT_PROXMOX':
    case 'REFUSED':
      throw new CheckUnsupportedError(error.message);
    case 'FULL':
    case 'UNAVAILABLE':
    case 'TIMEOUT':
    case 'CANCELLED': {
      const { host } = new URL(endpoint);
      throw new ProviderUnreachableError(host, reasonOf(error, host), { cause: error });
    }
  }
}

/** The error's sentence as what follows the host's name, which most of them begin with. */
function reasonOf({ message }: ProxmoxError, host: string): string {
  const said = message.replace(/\.$/, '');
  return said.startsWith(`${host} `) ? said.slice(host.length + 1) : `gives no answer (${said})`;
}
