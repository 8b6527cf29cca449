import { createHash } from 'node:crypto';
import type { models } from 'oci-core';
import { ComputeDriverError, type NodeDisk, type NodeSpec } from '../compute-driver';
import { machineLabels } from '../cloud-driver';
import { isOcid } from './oci-connection';

/** What the names in a place stand for. */
export interface OciPlace {
  availabilityDomain: string;
  subnetId: string;
  networkSecurityGroupIds: string[];
}

/** Oracle's bound on free-form tags of one resource. */
const MAX_TAGS = 10;
/** Bytes of all metadata of a machine. */
const MAX_METADATA = 32_000;
/** Volume performance units for a GB, by type of disk. */
const PERFORMANCE: Readonly<Record<string, number>> = { 'block-volume': 10 };

/** Machines can be listed by name, not by tag; their disks are named like them. Nothing else is found without it. */
export function machineName(nodeToken: string): string {
  return `platform-${nodeToken}`;
}

/** The token in the name of a machine or of one of its disks; null where there is none. */
export function tokenInName(displayName: string): string | null {
  const [, token] = /^platform-(.+?)( \(Boot Volume\))?$/.exec(displayName) ?? [];
  return token ?? null;
}

/** One for each attempt: for 24 hours, Oracle Cloud makes one machine of all requests that have it. */
export function retryToken({ labels, attempt }: NodeSpec): string {
  const parts = JSON.stringify([labels.installationId, labels.nodeToken, attempt]);
  return createHash('sha256').update(parts).digest('hex');
}

/** Throws {@link ComputeDriverError} of kind `invalid` for what no machine can be made of. */
export function assertLaunchable(spec: NodeSpec): void {
  const { image, identity, disks } = spec;
  if (!isOcid(image, 'image')) throw unsupportedNode(`the image is to be given by its OCID, not as "${spec.image}"`);
  if (identity !== null)
    throw unsupportedNode('machines have no identity of their own; a dynamic group in a policy gives them rights');
  for (const { type, iops, throughputMb } of disks) {
    if (PERFORMANCE[type] === undefined) throw unsupportedNode(`there are no disks of the type ${type}`);
    if (iops !== null || throughputMb !== null)
      throw unsupportedNode('the speed of a disk follows from its size; IOPS and throughput cannot be chosen');
  }
  const tags = Object.keys(machineLabels(spec, MAX_TAGS)).length;
  if (tags > MAX_TAGS)
    throw unsupportedNode(
      `it would have ${tags} free-form tags, and Oracle Cloud allows ${MAX_TAGS}; remove some labels`,
    );
}

/** The same for every try of an attempt. */
export function launchDetails(
  spec: NodeSpec,
  place: OciPlace,
  compartmentId: string,
  script: string,
): models.LaunchInstanceDetails {
  const userData = Buffer.from(script).toString('base64');
  if (userData.length > MAX_METADATA) throw unsupportedNode(`the boot script exceeds ${MAX_METADATA} bytes`);
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

/** What a shape of free size needs besides its name. */
function shapeConfig({
  type,
  cores,
  memoryMb,
}: NodeSpec['machine']): Pick<models.LaunchInstanceDetails, 'shapeConfig'> {
  if (!/\.Flex$/i.test(type)) return {};
  // An OCPU is a core with two threads, each of them a vCPU; the first Arm machines count their cores.
  const threads = /\.A1\./i.test(type) ? 1 : 2;
  return { shapeConfig: { ocpus: Math.max(1, Math.ceil(cores / threads)), memoryInGBs: Math.ceil(memoryMb / 1024) } };
}

/** Volumes are always encrypted. They are made with the machine and end with it. */
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

/** Oracle Cloud would not do it, or not as it is asked. */
export function unsupportedNode(what: string): ComputeDriverError {
  return new ComputeDriverError('NodeUnsupported', `Oracle Cloud cannot make this node: ${what}.`, { kind: 'invalid' });
}
