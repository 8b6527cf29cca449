import { BlockList, isIP } from 'node:net';

/**
 * `private` is an organisation's own network, `loopback` this machine, `link-local` this network segment, `metadata` the
 * service from which a cloud machine gets its secrets, and `reserved` never the address of a server.
 */
export type AddressClass = 'public' | 'private' | 'loopback' | 'link-local' | 'metadata' | 'reserved';

/** Networks by class; the first match counts. Sources: IANA's special-purpose registries; the clouds' documentation. */
const NETWORKS: readonly (readonly [Exclude<AddressClass, 'public'>, readonly string[]])[] = [
  [
    'metadata',
    [
      // AWS, Google, Azure, Oracle and OpenStack; ECS tasks; EKS pods.
      ...['169.254.169.254/32', '169.254.170.2/32', '169.254.170.23/32'],
      // Azure's host, Alibaba, Oracle on bare metal.
      ...['168.63.129.16/32', '100.100.100.200/32', '192.0.0.192/32'],
      ...['fd00:ec2::254/128', 'fd00:ec2::23/128', 'fd20:ce::254/128'],
    ],
  ],
  ['loopback', ['127.0.0.0/8', '::1/128']],
  ['link-local', ['169.254.0.0/16', 'fe80::/10']],
  [
    'private',
    ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', '198.18.0.0/15', 'fc00::/7', 'fec0::/10'],
  ],
  [
    'reserved',
    [
      // 0.0.0.0 reaches this machine.
      ...['0.0.0.0/8', '192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '198.51.100.0/24', '203.0.113.0/24'],
      ...['224.0.0.0/4', '240.0.0.0/4', '::/128', '100::/64', '2001:db8::/32', 'ff00::/8'],
      // Tunnels and translation whose other end cannot be read from the address.
      ...['64:ff9b:1::/48', '2001::/32'],
    ],
  ],
];

/** IPv6 networks that carry an IPv4 address, and the 16-bit group in which it begins. */
const CARRIERS: readonly (readonly [string, number])[] = [
  ['::ffff:0:0/96', 6],
  ['::ffff:0:0:0/96', 6],
  ['64:ff9b::/96', 6],
  ['::/96', 6],
  ['2002::/16', 1],
];

const classes = NETWORKS.map(([name, networks]) => [name, networkList(networks)] as const);
const carriers = CARRIERS.map(([network, group]) => [networkList([network]), group] as const);

/** Returns the class of an address in any spelling. An IPv6 address that carries an IPv4 address has the class of that. */
export function addressClass(address: string): AddressClass {
  const plain = withoutZone(address);
  const own = classes.find(([, list]) => contains(list, plain))?.[0];
  if (own) return own;
  const carried = carriedIpv4(plain);
  return carried === null ? 'public' : addressClass(carried);
}

/**
 * Returns a list of networks such as `10.0.0.0/8` or single addresses.
 * @throws Error naming an entry that is neither
 */
export function networkList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [, address = '', prefix] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(network) ?? [];
    const version = isIP(address);
    const maxBits = version === 6 ? 128 : 32;
    const bits = Number(prefix ?? maxBits);
    if (version === 0 || bits > maxBits) {
      throw new Error(`${network} is neither an IP address nor a network such as 10.0.0.0/8.`);
    }
    list.addSubnet(address, bits, version === 6 ? 'ipv6' : 'ipv4');
  }
  return list;
}

/** True if the list holds the address, or the IPv4 address that it carries. */
export function isListed(list: BlockList, address: string): boolean {
  const plain = withoutZone(address);
  const carried = carriedIpv4(plain);
  return contains(list, plain) || (carried !== null && contains(list, carried));
}

function contains(list: BlockList, address: string): boolean {
  return list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

function withoutZone(address: string): string {
  return address.split('%', 1)[0] ?? '';
}

function carriedIpv4(address: string): string | null {
  if (isIP(address) !== 6) return null;
  const start = carriers.find(([list]) => contains(list, address))?.[1];
  if (start === undefined) return null;
  const [high = 0, low = 0] = ipv6Groups(address).slice(start);
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** The eight 16-bit groups; the URL parser has already turned every spelling into the canonical one. */
function ipv6Groups(address: string): number[] {
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = '', tail] = canonical.split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':').map((group) => parseInt(group, 16)));
  if (tail === undefined) return groups(head);
  const [before, after] = [groups(head), groups(tail)];
  return [...before, ...Array.from({ length: 8 - before.length - after.length }, () => 0), ...after];
}
