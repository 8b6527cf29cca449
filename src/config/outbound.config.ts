import { BlockList, isIP } from 'node:net';
import type { EnvReader } from './env-reader';

/** Which endpoints named by users the platform may call. */
export interface OutboundConfig {
  schemes: ('http' | 'https')[];
  /** Classes of addresses that may be called besides public ones. */
  addresses: ('private' | 'loopback' | 'link-local')[];
  /** Addresses and networks that may be called whatever their class. */
  networks: string[];
}

const SCHEMES = ['https', 'http'] as const;
const ADDRESSES = ['private', 'loopback', 'link-local'] as const;

export function readOutboundConfig(env: EnvReader): OutboundConfig {
  const networks = env.list('OUTBOUND_NETWORKS');
  if (!networks.every(isNetwork)) env.problem('OUTBOUND_NETWORKS', 'must be a list of addresses and networks');
  return {
    schemes: env.listOf('OUTBOUND_SCHEMES', SCHEMES, ['https']),
    addresses: env.listOf('OUTBOUND_ADDRESSES', ADDRESSES, ['private']),
    networks,
  };
}

/** `10.1.2.3`, `10.1.0.0/16`, `fd00::/8`. */
function isNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0 || (prefix !== undefined && !/^\d{1,3}$/.test(prefix))) return false;
  try {
    new BlockList().addSubnet(address, Number(prefix ?? 0), family === 4 ? 'ipv4' : 'ipv6');
    return true;
  } catch {
    return false;
  }
}
