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

/** What clusters need to see of the compartment: each a list that is asked for, and the right it takes. */
const RIGHTS: readonly [right: string, look: (oci: OciConnection, compartmentId: string) => Promise<unknown>][] = [
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
 * Oracle Cloud's API key: whether it may see what clusters consist of. Whether it may make them cannot be asked without
 * making one.
 * @param region one that the tenancy has subscribed to; elsewhere nobody knows the key
 * @param endpoint where Oracle Cloud answers, if not at the public addresses of the region
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
      `The key is accepted, but a policy that allows its user ${missing.join(', ')} in the compartment ${keys.compartment} is missing, or the compartment is.`,
    );
  } catch (error) {
    return refusalIn(error, region);
  }
}

async function missingRights(oci: OciConnection): Promise<string[]> {
  const missing = await Promise.all(
    RIGHTS.map(async ([right, look]) => {
      try {
        await look(oci, oci.compartment);
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
    return notWorking(`${message} Oracle Cloud says the same where the tenancy has not subscribed to ${region}.`);
  if (isMissing(error))
    return notWorking('A policy that allows the user to inspect availability-domains in the tenancy is missing.');
  if (kind === 'denied' || kind === 'invalid') return notWorking(message);
  throw new ProviderUnreachableError(`Oracle Cloud in ${region}`, `gives no answer that tells: ${message}`, {
    cause: error,
  });
}
