import { ComputeDriverError } from '../compute-drivers/compute-driver';
import { OciConnection, ociKeys } from '../compute-drivers/oci/oci-connection';
import { isMissing } from '../compute-drivers/oci/oci-faults';
import { AddressRefusedError } from '../outbound-policy/outbound-policy';
import {
  type CheckContext,
  type CredentialCheck,
  notWorking,
  ProviderUnreachableError,
  working,
} from './credential-check';

/** Resource families that the user must be able to list in the compartment, with a call that needs the right. */
const RIGHTS: readonly [right: string, list: (oci: OciConnection, compartmentId: string) => Promise<unknown>][] = [
  [
    'instance-family',
    (oci, compartmentId) => oci.compute((client) => client.listInstances({ compartmentId, limit: 1 })),
  ],
  ['volume-family', (oci, compartmentId) => oci.disks((client) => client.listVolumes({ compartmentId, limit: 1 }))],
  [
    'virtual-network-family',
    (oci, compartmentId) => oci.network((client) => client.listVcns({ compartmentId, limit: 1 })),
  ],
];

/**
 * Checks an API key of Oracle Cloud, and whether its user may list the resources of clusters. Rights to create them cannot be
 * checked without creating one.
 * @param region a region that the tenancy has subscribed to; other regions do not know the key
 * @param endpoint null for the public endpoints of the region
 */
export async function checkOciKey(
  credentials: Readonly<Record<string, string>>,
  region: string,
  endpoint: string | null,
  { agents, signal }: CheckContext,
): Promise<CredentialCheck> {
  try {
    const keys = ociKeys(credentials);
    const oci = new OciConnection({ keys, region, endpoint, agents, signal });
    await oci.availabilityDomains();
    const missing = await missingRights(oci);
    if (missing.length === 0) return working(keys.user);
    return notWorking(
      `Oracle Cloud accepts the key, but no policy allows its user to inspect ${missing.join(', ')} in the compartment ${keys.compartment}, or the compartment does not exist.`,
    );
  } catch (error) {
    return refusalIn(error, region);
  }
}

async function missingRights(oci: OciConnection): Promise<string[]> {
  const missing = await Promise.all(
    RIGHTS.map(async ([right, list]) => {
      try {
        await list(oci, oci.compartment);
        return null;
      } catch (error) {
        if (isMissing(error)) return right;
        throw error;
      }
    }),
  );
  return missing.filter((right) => right !== null);
}

function refusalIn(error: unknown, region: string): CredentialCheck {
  if (!(error instanceof ComputeDriverError)) throw error;
  const { code, kind, message } = error;
  if (code === 'AddressRefused') throw new AddressRefusedError(message);
  if (code === 'NotAuthenticated')
    return notWorking(`${message} Oracle Cloud also answers so if the tenancy has not subscribed to ${region}.`);
  if (isMissing(error)) return notWorking('No policy allows the user to inspect availability-domains in the tenancy.');
  if (kind === 'denied' || kind === 'invalid') return notWorking(message);
  throw new ProviderUnreachableError(`Oracle Cloud in ${region}`, `did not say whether the key works: ${message}`, {
    cause: error,
  });
}
