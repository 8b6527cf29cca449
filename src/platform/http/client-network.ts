import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Some proxies append the port: `192.0.2.1:50000`, `[2001:db8::1]:50000`. */
const WITH_PORT = /^(?:\[(?<v6>[^\]]+)\]|(?<v4>[\d.]+))(?::\d+)?$/;

const IPV6_NETWORK_BITS = 64;

/**
 * Returns the network that counts as one client: an IPv4 address, or the /64 of an IPv6 address, because a client that has
 * one of its addresses has all of them. Returns `unknown` if the text is not an address.
 */
export function clientNetwork(address: string | undefined): string {
  const { v4, v6 } = WITH_PORT.exec(address ?? '')?.groups ?? {};
  const [plain = ''] = (v6 ?? v4 ?? address ?? '').split('%');
  if (isIP(plain) === 0) return 'unknown';
  const parsed = ipaddr.process(plain);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${plain}/${IPV6_NETWORK_BITS}`).toString()}/${IPV6_NETWORK_BITS}`;
}
