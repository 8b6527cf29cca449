import { isIP } from 'node:net';
import type { OutboundPolicy } from '../../outbound-policy/outbound-policy';
import { MetastoreError } from '../metastore-client';
import { connectionFault } from '../metastore-fault';
import type { Krb5Conf } from '../krb5-conf';

/** Of all realms together. */
const MAX_ADDRESSES = 50;

/**
 * The text of a krb5.conf with the realms of another one and nothing else of it. KDCs are addresses that the policy allows,
 * so that the library has nothing to look up. Rejects with {@link MetastoreError} where the policy refuses one, or where none
 * of a realm has an address.
 */
export async function clientConf(krb5: Krb5Conf, outbound: OutboundPolicy): Promise<string> {
  const realms = await Promise.all(
    krb5.realms.map(async ({ name, kdcs }) => {
      const found = await Promise.allSettled(kdcs.map(({ host, port }) => addressesOf(host, port, outbound)));
      const addresses = found.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
      const failed = found.find((one) => one.status === 'rejected');
      if (addresses.length === 0 && failed) throw connectionFault(`The KDC of ${name}`, failed.reason);
      return { name, addresses };
    }),
  );
  const lines = [
    '[libdefaults]',
    ...(krb5.defaultRealm === null ? [] : [`default_realm = ${krb5.defaultRealm}`]),
    ...['dns_lookup_kdc = false', 'dns_lookup_realm = false', 'dns_uri_lookup = false', 'rdns = false'],
    // By TCP first: its end is noticed. One try, since another KDC may be next and a deadline is set.
    ...['dns_canonicalize_hostname = false', 'udp_preference_limit = 1', 'max_retries = 1', 'kdc_timeout = 3'],
    '[realms]',
    ...realms.flatMap(({ name, addresses }) => [`${name} = {`, ...addresses.map((kdc) => `kdc = ${kdc}`), '}']),
  ];
  if (realms.reduce((sum, { addresses }) => sum + addresses.length, 0) > MAX_ADDRESSES) {
    throw new MetastoreError('unsupported', `The realms of the catalog have more than ${MAX_ADDRESSES} KDCs.`);
  }
  return `${lines.join('\n')}\n`;
}

/** The realm that a principal without one is in; null where the configuration does not tell. */
export function usualRealm({ defaultRealm, realms }: Krb5Conf): string | null {
  return defaultRealm ?? (realms.length === 1 ? (realms[0]?.name ?? null) : null);
}

async function addressesOf(host: string, port: number, outbound: OutboundPolicy): Promise<string[]> {
  if (isIP(host) !== 0) {
    outbound.assertAddress(host);
    return [serverText(host, port)];
  }
  const found = await new Promise<string[]>((resolve, reject) => {
    outbound.lookup(host, { all: true }, (error, addresses) => {
      if (error) reject(error);
      else resolve(Array.isArray(addresses) ? addresses.map(({ address }) => address) : [addresses]);
    });
  });
  return found.map((address) => serverText(address, port));
}

function serverText(address: string, port: number): string {
  return isIP(address) === 6 ? `[${address}]:${port}` : `${address}:${port}`;
}
