import type { compute_v1 } from '@googleapis/compute/build/v1';
import { machineLabels } from '../cloud-driver';
import type { NodeDisk, NodeSpec } from '../compute-driver';
import { diskTypeOf, imageOf, invalidInput, machineName, machineTypeOf, networkOf, zoneOf } from './google-names';

const MAX_LABELS = 64;
const LABEL_KEY = /^[\p{Ll}\p{Lo}][\p{Ll}\p{Lo}\p{N}_-]{0,62}$/u;
const LABEL_VALUE = /^[\p{Ll}\p{Lo}\p{N}_-]{0,63}$/u;
const NETWORK_TAG = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/;
const IDENTITY = /^(default|[a-zA-Z0-9.-]{1,128}@[a-z0-9.-]{1,128})$/;
/** Google's limit of one metadata value. */
const MAX_SCRIPT_BYTES = 262_144;
/** Machines of these families boot from Hyperdisk only. */
const HYPERDISK_ONLY = /^[a-z]4/;
/** Machines of these families cannot be moved while they run; GPUs have the same effect. */
const UNMOVABLE = /^(h\d|z3|x4)/;
const LOCAL_SSD = 'local-ssd';
const LOCAL_SSD_GIB = 375;

/** GPUs that are attached to machines of the family n1; those of other families have theirs built in. */
const ACCELERATORS: Readonly<Record<string, string>> = {
  'NVIDIA T4': 'nvidia-tesla-t4',
  'NVIDIA P4': 'nvidia-tesla-p4',
  'NVIDIA V100': 'nvidia-tesla-v100',
  'NVIDIA P100': 'nvidia-tesla-p100',
};

/** Returns the request for a node's machine, which is the same for every try of an attempt. */
export function machineOf(spec: NodeSpec, script: string): compute_v1.Schema$Instance {
  const { place, machine, labels: owner, attempt } = spec;
  if (Buffer.byteLength(script) > MAX_SCRIPT_BYTES)
    throw invalidInput(
      'SCRIPT_TOO_LONG',
      `The boot script of nodes is longer than ${MAX_SCRIPT_BYTES} bytes, the limit of Google Cloud.`,
    );
  const zone = zoneOf(place);
  const name = machineName(owner.nodeToken, attempt);
  const labels = checkedLabels(machineLabels(spec));
  const badTag = place.networkTags.find((tag) => !NETWORK_TAG.test(tag));
  if (badTag !== undefined)
    throw invalidInput(
      'TAG_INVALID',
      `The network tag "${badTag}" is invalid. Google Cloud allows 1 to 63 small letters, digits and hyphens, beginning with a letter.`,
    );
  return {
    name,
    machineType: machineTypeOf(machine.type, zone),
    labels,
    disks: [
      bootDisk(spec, zone, labels),
      ...spec.disks.map((disk, index) => dataDisk(disk, index, name, zone, labels)),
    ],
    networkInterfaces: [
      {
        ...networkOf(place),
        ...(spec.enablePublicIp ? { accessConfigs: [{ type: 'ONE_TO_ONE_NAT', name: 'External NAT' }] } : {}),
      },
    ],
    tags: { items: [...place.networkTags] },
    metadata: {
      items: [
        // Google runs it at each boot.
        { key: 'startup-script', value: script },
        ...(spec.blockProjectSshKeys ? [{ key: 'block-project-ssh-keys', value: 'TRUE' }] : []),
      ],
    },
    serviceAccounts: identityOf(spec),
    scheduling: schedulingOf(spec),
    ...acceleratorsOf(spec, zone),
  };
}

function checkedLabels(labels: Record<string, string>): Record<string, string> {
  const entries = Object.entries(labels);
  const bad = entries.find(([key, value]) => !LABEL_KEY.test(key) || !LABEL_VALUE.test(value));
  if (bad)
    throw invalidInput(
      'LABEL_INVALID',
      `The label "${bad[0]}" is invalid. Google Cloud allows small letters, digits, hyphens and underscores, at most 63 in a key or value, and keys begin with a letter.`,
    );
  if (entries.length > MAX_LABELS)
    throw invalidInput(
      'TOO_MANY_LABELS',
      `The node has ${entries.length} labels, and Google Cloud allows ${MAX_LABELS}. Remove some labels.`,
    );
  return labels;
}

function bootDisk({ machine, image, place }: NodeSpec, zone: string, labels: Record<string, string>) {
  return {
    boot: true,
    autoDelete: true,
    type: 'PERSISTENT',
    initializeParams: {
      sourceImage: imageOf(image, place),
      diskType: diskTypeOf(HYPERDISK_ONLY.test(machine.type) ? 'hyperdisk-balanced' : 'pd-balanced', zone),
      labels,
    },
  };
}

/** Google encrypts every disk. */
function dataDisk(disk: NodeDisk, index: number, name: string, zone: string, labels: Record<string, string>) {
  const diskType = diskTypeOf(disk.type, zone);
  if (disk.type === LOCAL_SSD) {
    if (disk.gib !== LOCAL_SSD_GIB)
      throw invalidInput('DISK_INVALID', `A local SSD of Google Cloud has ${LOCAL_SSD_GIB} GiB, not ${disk.gib}.`);
    return { type: 'SCRATCH', interface: 'NVME', autoDelete: true, initializeParams: { diskType } };
  }
  return {
    type: 'PERSISTENT',
    autoDelete: true,
    // The machine has it at /dev/disk/by-id/google-<deviceName>.
    deviceName: `platform-data-${index + 1}`,
    initializeParams: {
      diskName: `${name}-d${index + 1}`,
      diskSizeGb: String(disk.gib),
      diskType,
      ...(disk.iops === null ? {} : { provisionedIops: String(disk.iops) }),
      ...(disk.throughputMb === null ? {} : { provisionedThroughput: String(disk.throughputMb) }),
      labels,
    },
  };
}

function identityOf({ identity }: NodeSpec): compute_v1.Schema$ServiceAccount[] {
  if (identity === null) return [];
  if (!IDENTITY.test(identity))
    throw invalidInput(
      'IDENTITY_INVALID',
      'The cloud identity of the node is not the e-mail address of a service account.',
    );
  // The scope allows everything, so only the roles of the account limit it.
  return [{ email: identity, scopes: ['https://www.googleapis.com/auth/cloud-platform'] }];
}

function schedulingOf({ market, machine }: NodeSpec): compute_v1.Schema$Scheduling {
  if (market === 'spot')
    return {
      provisioningModel: 'SPOT',
      instanceTerminationAction: 'STOP',
      automaticRestart: false,
      onHostMaintenance: 'TERMINATE',
    };
  const unmovable = machine.gpu !== null || UNMOVABLE.test(machine.type);
  return { automaticRestart: true, onHostMaintenance: unmovable ? 'TERMINATE' : 'MIGRATE' };
}

function acceleratorsOf({ machine }: NodeSpec, zone: string): Pick<compute_v1.Schema$Instance, 'guestAccelerators'> {
  const { gpu, type } = machine;
  if (gpu === null || !type.startsWith('n1-')) return {};
  const accelerator = ACCELERATORS[gpu.model];
  if (accelerator === undefined)
    throw invalidInput('GPU_INVALID', `Google Cloud cannot attach a ${gpu.model} to the machine type ${type}.`);
  return {
    guestAccelerators: [
      { acceleratorType: `zones/${zone}/acceleratorTypes/${accelerator}`, acceleratorCount: gpu.count },
    ],
  };
}
