import { BlockList, isIP } from 'node:net';
import type { EnvReader } from './env-reader';

/** Limits which endpoints the platform calls if a user names them. */
export type OutboundConfig = ReturnType<typeof readOutboundConfig>;

const SCHEMES = ['https', 'http'] as const;
const ADDRESSES = ['private', 'loopback', 'link-local'] as const;

export function readOutboundConfig(reader: EnvReader) {
  const env = reader.section(
    'Endpoints that users name',
    'These limits apply to the addresses of object stores, metastores and OnPrem environments.',
  );
  const networks = env.list('OUTBOUND_NETWORKS', {
    allowed: 'comma-separated list of addresses and networks, such as `10.1.0.0/16`',
    readBy: ['API', 'worker'],
    description: 'Addresses and networks that the platform may call whatever kind of address they are.',
  });
  if (!networks.every(isNetwork)) env.problem('OUTBOUND_NETWORKS', 'must be a list of addresses and networks');
  return {
    schemes: env.listOf('OUTBOUND_SCHEMES', SCHEMES, {
      default: ['https'],
      readBy: ['API', 'worker'],
      description: 'URL schemes that the platform may call. The quickstart allows both.',
    }),
    addresses: env.listOf('OUTBOUND_ADDRESSES', ADDRESSES, {
      default: ['private'],
      readBy: ['API', 'worker'],
      description:
        'Kinds of addresses that the platform may call besides public ones. The quickstart also allows `loopback`.',
    }),
    networks,
  };
}

/** Accepts `10.1.2.3`, `10.1.0.0/16`, `fd00::/8`. */
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
