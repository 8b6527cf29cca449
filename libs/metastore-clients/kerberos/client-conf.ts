import { isIP } from 'node:net';
import type { OutboundPolicy } from '../../outbound-policy/outbound-policy';
import { MetastoreError } from '../metastore-client';
import { connectionFault } from '../metastore-fault';
import type { Krb5Conf } from '../krb5-conf';

/** Limit of the KDC addresses of all realms together. */
const MAX_ADDRESSES = 50;

/**
 * Writes a krb5.conf that contains only the realms of the given one. Its KDCs are addresses that the policy allows, so that
 * the library looks nothing up. Rejects with {@link MetastoreError} if no KDC of a realm resolves to an allowed address.
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
    // TCP first, because a closed connection is noticed. One attempt, because another KDC may be next before the deadline.
    ...['dns_canonicalize_hostname = false', 'udp_preference_limit = 1', 'max_retries = 1', 'kdc_timeout = 3'],
    '[realms]',
    ...realms.flatMap(({ name, addresses }) => [`${name} = {`, ...addresses.map((kdc) => `kdc = ${kdc}`), '}']),
  ];
  if (realms.reduce((sum, { addresses }) => sum + addresses.length, 0) > MAX_ADDRESSES) {
    throw new MetastoreError(
      'unsupported',
      `The KDCs of the catalog's krb5.conf have more than ${MAX_ADDRESSES} addresses.`,
    );
  }
  return `${lines.join('\n')}\n`;
}

/** Returns the realm of principals that name none; null if the configuration does not determine it. */
export function defaultRealmOf({ defaultRealm, realms }: Krb5Conf): string | null {
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
