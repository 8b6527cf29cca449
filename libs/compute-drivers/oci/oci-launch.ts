import { createHash } from 'node:crypto';
import type { models } from 'oci-core';
import { ComputeDriverError, type NodeDisk, type NodeSpec } from '../compute-driver';
import { machineLabels } from '../cloud-driver';
import { isOcid } from './oci-connection';

/** The ids of a place's resources. */
export interface OciPlace {
  availabilityDomain: string;
  subnetId: string;
  networkSecurityGroupIds: string[];
}

/** Oracle's limit of free-form tags of one resource. */
const MAX_TAGS = 10;
/** Bytes of all metadata of a machine. */
const MAX_METADATA = 32_000;
/** Volume performance units per GB, by disk type. */
const PERFORMANCE: Readonly<Record<string, number>> = { 'block-volume': 10 };

/** Machines can be listed by name, but not by tag, so the name contains the token. Their disks have the same name. */
export function machineName(nodeToken: string): string {
  return `platform-${nodeToken}`;
}

/** Returns the token in the name of a machine or of one of its disks; null if the name has none. */
export function tokenInName(displayName: string): string | null {
  const [, token] = /^platform-(.+?)( \(Boot Volume\))?$/.exec(displayName) ?? [];
  return token ?? null;
}

/** Idempotency token of an attempt: Oracle Cloud launches one machine for all requests with the same token in 24 hours. */
export function retryToken({ labels, attempt }: NodeSpec): string {
  const parts = JSON.stringify([labels.installationId, labels.nodeToken, attempt]);
  return createHash('sha256').update(parts).digest('hex');
}

/** Validates a spec without a call to Oracle Cloud. Throws a {@link ComputeDriverError} of kind `invalid`. */
export function assertLaunchable(spec: NodeSpec): void {
  const { image, identity, disks } = spec;
  if (!isOcid(image, 'image')) throw unsupportedNode(`its image "${spec.image}" is not the OCID of an image`);
  if (identity !== null)
    throw unsupportedNode(
      'machines of Oracle Cloud cannot have an identity; grant rights to a dynamic group that contains them',
    );
  for (const { type, iops, throughputMb } of disks) {
    if (PERFORMANCE[type] === undefined) throw unsupportedNode(`Oracle Cloud has no disk type "${type}"`);
    if (iops !== null || throughputMb !== null)
      throw unsupportedNode('IOPS and throughput of a disk follow from its size and cannot be set');
  }
  const tags = Object.keys(machineLabels(spec, MAX_TAGS)).length;
  if (tags > MAX_TAGS)
    throw unsupportedNode(
      `it would have ${tags} free-form tags, and Oracle Cloud allows ${MAX_TAGS}; remove some labels`,
    );
}

/** Returns the launch request, which is the same for every try of an attempt. */
export function launchDetails(
  spec: NodeSpec,
  place: OciPlace,
  compartmentId: string,
  script: string,
): models.LaunchInstanceDetails {
  const userData = Buffer.from(script).toString('base64');
  if (userData.length > MAX_METADATA)
    throw unsupportedNode(
      `its boot script has ${userData.length} bytes when encoded, and Oracle Cloud allows ${MAX_METADATA}`,
    );
  const displayName = machineName(spec.labels.nodeToken);
  const freeformTags = machineLabels(spec, MAX_TAGS);
  return {
    availabilityDomain: place.availabilityDomain,
    compartmentId,
    displayName,
    freeformTags,
    shape: spec.machine.type,
    ...shapeConfig(spec.machine),
    sourceDetails: { sourceType: 'image', imageId: spec.image },
    createVnicDetails: {
      subnetId: place.subnetId,
      displayName,
      freeformTags,
      assignPublicIp: spec.enablePublicIp,
      ...(place.networkSecurityGroupIds.length > 0 ? { nsgIds: place.networkSecurityGroupIds } : {}),
    },
    metadata: { user_data: userData },
    instanceOptions: { areLegacyImdsEndpointsDisabled: true },
    ...(spec.market === 'spot'
      ? { preemptibleInstanceConfig: { preemptionAction: { type: 'TERMINATE', preserveBootVolume: false } } }
      : {}),
    ...(spec.disks.length > 0 ? { launchVolumeAttachments: spec.disks.map((disk) => volume(disk, displayName)) } : {}),
  };
}

/** Returns the size that a flexible shape needs besides its name. */
function shapeConfig({
  type,
  cores,
  memoryMb,
}: NodeSpec['machine']): Pick<models.LaunchInstanceDetails, 'shapeConfig'> {
  if (!/\.Flex$/i.test(type)) return {};
  // An OCPU is a core with two threads, which are two vCPUs. On the first Arm machines it is one vCPU.
  const threads = /\.A1\./i.test(type) ? 1 : 2;
  return { shapeConfig: { ocpus: Math.max(1, Math.ceil(cores / threads)), memoryInGBs: Math.ceil(memoryMb / 1024) } };
}

/** Volumes are always encrypted, and are created and deleted with the machine. */
function volume({ gib, type }: NodeDisk, displayName: string): models.LaunchAttachParavirtualizedVolumeDetails {
  return {
    type: 'paravirtualized',
    launchCreateVolumeDetails: {
      volumeCreationType: 'ATTRIBUTES',
      displayName,
      sizeInGBs: gib,
      vpusPerGB: PERFORMANCE[type] ?? 10,
    },
  };
}

/** Returns the fault of a spec of which Oracle Cloud can launch no machine. */
export function unsupportedNode(what: string): ComputeDriverError {
  return new ComputeDriverError('NodeUnsupported', `Oracle Cloud cannot launch this node: ${what}.`, {
    kind: 'invalid',
  });
}
