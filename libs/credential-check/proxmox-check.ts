import { ProxmoxClient } from '../compute-drivers/proxmox/proxmox-client';
import type { ProxmoxConnections } from '../compute-drivers/proxmox/proxmox-connections';
import { ProxmoxError } from '../compute-drivers/proxmox/proxmox-error';
import { PRIVILEGES } from '../compute-drivers/proxmox/proxmox-rights';
import { AddressRefusedError } from '../outbound-policy/outbound-policy';
import {
  CheckUnsupportedError,
  type CredentialCheck,
  notWorking,
  ProviderUnreachableError,
  working,
} from './credential-check';

import { describeMissingRights } from './missing-rights';

export interface ProxmoxKeys {
  endpoint: string;
  username: string;
  password: string;
}

/** Checks a Proxmox VE account by its login, and reads its privileges, which every account may see. */
export async function checkProxmoxAccount(
  keys: ProxmoxKeys,
  connections: ProxmoxConnections,
  signal: AbortSignal,
): Promise<CredentialCheck> {
  try {
    const client = new ProxmoxClient(connections, keys);
    await client.request('GET', '/version', { signal });
    return working(
      keys.username,
      await describeMissingRights(`at ${new URL(keys.endpoint).host}`, () => missing(client, signal)),
    );
  } catch (error) {
    if (!(error instanceof ProxmoxError)) throw error;
    return refusal(error, keys);
  }
}

/** Returns the privileges that the account has on no path. The check does not know which hosts and storages will be used. */
async function missing(client: ProxmoxClient, signal: AbortSignal): Promise<string[]> {
  const paths = Object.values(Object(await client.request('GET', '/access/permissions', { signal })) as object);
  const granted = new Set(paths.flatMap((privileges) => Object.keys(Object(privileges) as object)));
  return PRIVILEGES.filter((names) => !names.some((name) => granted.has(name))).map(([name]) => name);
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

/** Returns the error's sentence without the host's name, with which most begin. */
function reasonOf({ message }: ProxmoxError, host: string): string {
  const said = message.replace(/\.$/, '');
  return said.startsWith(`${host} `) ? said.slice(host.length + 1) : `did not respond (${said})`;
}
