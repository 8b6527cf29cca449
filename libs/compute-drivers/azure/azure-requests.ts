import { createHash, generateKeyPairSync } from 'node:crypto';
import type { DataDisk, Disk, ImageReference, VirtualMachine } from '@azure/arm-compute';
import type { NetworkInterface, PublicIPAddress } from '@azure/arm-network';
import { machineLabels } from '../cloud-driver';
import type { NodeDisk, NodeSpec } from '../compute-driver';
import type { Place } from '../place';
import { invalidRequest } from './azure-faults';

/** Login and management endpoints of Azure's public cloud. */
export const AZURE_AUTHORITY = 'https://login.microsoftonline.com';
export const AZURE_ENDPOINT = 'https://management.azure.com';

const MAX_TAGS = 50;
const MAX_TAG_NAME_LENGTH = 512;
const MAX_TAG_VALUE_LENGTH = 256;
const MAX_CUSTOM_DATA_BYTES = 65_535;

/** Nobody can log in as this user, because its private key is discarded. */
const ADMIN = 'platform';

/** Disk types whose IOPS and throughput are set separately from the size. Such a disk is created by its own request. */
const SEPARATE_DISK_TYPES: ReadonlySet<string> = new Set(['PremiumV2_LRS', 'UltraSSD_LRS']);
const ULTRA = 'UltraSSD_LRS';
const BOOT_DISK_TYPE = 'StandardSSD_LRS';

const RESOURCE_GROUP = /^(?=.{1,90}$)[\p{L}\p{N}_().-]*[\p{L}\p{N}_()-]$/u;
const RESOURCE = /^(?=.{1,80}$)[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9_])?$/;
const REGION = /^[a-z0-9]{1,40}$/;
const URN = /^([\w.-]{1,80}):([\w.-]{1,80}):([\w.-]{1,80}):([\w.-]{1,80})$/;
const RESOURCE_ID = /^(\/[\w().-]{1,90}){2,20}$/;
const SUBNET_ID =
  /^\/subscriptions\/[\w-]{1,60}\/resourceGroups\/[^/?#]{1,90}\/providers\/Microsoft\.Network\/virtualNetworks\/[\w.-]{1,80}\/subnets\/[\w.-]{1,80}$/i;
const IDENTITY_ID =
  /^\/subscriptions\/[\w-]{1,60}\/resourceGroups\/[^/?#]{1,90}\/providers\/Microsoft\.ManagedIdentity\/userAssignedIdentities\/[\w-]{1,128}$/i;

/** Names of a node's resources. They are the same for all attempts, because a node has one machine at a time. */
export interface NodeNames {
  machine: string;
  card: string;
  address: string;
  bootDisk: string;
  disk(index: number): string;
}

/** Azure limits the name of a machine to 64 characters. */
export function nodeNames(nodeToken: string): NodeNames {
  const own = /^[A-Za-z0-9]([A-Za-z0-9-]{0,50}[A-Za-z0-9])?$/.test(nodeToken);
  const machine = `node-${own ? nodeToken : createHash('sha256').update(nodeToken).digest('hex').slice(0, 48)}`;
  return {
    machine,
    card: `${machine}-nic`,
    address: `${machine}-ip`,
    bootDisk: `${machine}-os`,
    disk: (index) => `${machine}-data-${index}`,
  };
}

/** Returns the resource group of a place, which every call needs. */
export function groupOf({ account }: Pick<Place, 'account'>): string {
  if (account === null || !RESOURCE_GROUP.test(account))
    throw invalidRequest('The cloud project of the environment is not the name of an Azure resource group.');
  return account;
}

/** The requests that create a node. */
export interface NodeRequests {
  group: string;
  names: NodeNames;
  address: PublicIPAddress | null;
  card: NetworkInterface;
  /** Disks that need their own requests. */
  disks: { name: string; disk: Disk }[];
  machine: VirtualMachine;
}

/**
 * Returns the requests for a node. Validates the whole spec first, so that Azure does not refuse it after some requests.
 */
export function nodeRequests(spec: NodeSpec, script: string, subscription: string): NodeRequests {
  const { place, labels, disks, market, machine: wanted } = spec;
  const group = groupOf(place);
  const names = nodeNames(labels.nodeToken);
  const { region: location, zones } = regionOf(place);
  const tags = tagsOf(spec);
  const common = { location, tags };
  const idOf = (kind: string, name: string, of = group) =>
    `/subscriptions/${subscription}/resourceGroups/${of}/providers/${kind}/${name}`;
  const customData = Buffer.from(script);
  if (customData.length > MAX_CUSTOM_DATA_BYTES)
    throw invalidRequest(`The boot script has ${customData.length} bytes, and Azure allows ${MAX_CUSTOM_DATA_BYTES}.`);
  if (!/^[\w-]{1,80}$/.test(wanted.type))
    throw invalidRequest(`The machine type "${wanted.type}" is not a VM size of Azure.`);
  if (disks.length > 64)
    throw invalidRequest(`The node has ${disks.length} data disks, and a machine of Azure can have at most 64.`);

  const networkGroup = place.networkAccount === null ? group : groupOf({ account: place.networkAccount });
  const security = place.networkTags.map((tag) => {
    if (!RESOURCE.test(tag))
      throw invalidRequest(`The network tag ${tag} is not the name of an application security group.`);
    return { id: idOf('Microsoft.Network/applicationSecurityGroups', tag, networkGroup) };
  });
  const isSpot = market === 'spot';
  return {
    group,
    names,
    address: spec.enablePublicIp
      ? { ...common, zones, sku: { name: 'Standard' }, publicIPAllocationMethod: 'Static', deleteOption: 'Delete' }
      : null,
    card: {
      ...common,
      ipConfigurations: [
        {
          name: 'primary',
          primary: true,
          privateIPAllocationMethod: 'Dynamic',
          subnet: { id: subnetId(place, networkGroup, subscription) },
          ...(spec.enablePublicIp && {
            publicIPAddress: { id: idOf('Microsoft.Network/publicIPAddresses', names.address), deleteOption: 'Delete' },
          }),
          ...(security.length > 0 && { applicationSecurityGroups: security }),
        },
      ],
    },
    disks: disks.flatMap((disk, index) =>
      isSeparateDisk(disk) ? [{ name: names.disk(index), disk: { ...common, zones, ...separateDisk(disk) } }] : [],
    ),
    machine: {
      ...common,
      zones,
      hardwareProfile: { vmSize: wanted.type },
      storageProfile: {
        imageReference: imageReference(spec.image),
        osDisk: {
          name: names.bootDisk,
          createOption: 'FromImage',
          deleteOption: 'Delete',
          managedDisk: { storageAccountType: BOOT_DISK_TYPE },
        },
        dataDisks: disks.map((disk, lun) =>
          dataDisk(disk, lun, names.disk(lun), idOf('Microsoft.Compute/disks', names.disk(lun))),
        ),
      },
      osProfile: {
        computerName: names.machine,
        adminUsername: ADMIN,
        customData: customData.toString('base64'),
        // Extensions could run commands on the machine.
        allowExtensionOperations: false,
        linuxConfiguration: {
          disablePasswordAuthentication: true,
          ssh: { publicKeys: [{ path: `/home/${ADMIN}/.ssh/authorized_keys`, keyData: unusableKey() }] },
        },
      },
      networkProfile: {
        networkInterfaces: [
          { id: idOf('Microsoft.Network/networkInterfaces', names.card), primary: true, deleteOption: 'Delete' },
        ],
      },
      ...(spec.identity !== null && { identity: identityOf(spec.identity) }),
      ...(disks.some(({ encrypted }) => encrypted) && { securityProfile: { encryptionAtHost: true } }),
      ...(disks.some(({ type }) => type === ULTRA) && { additionalCapabilities: { ultraSSDEnabled: true } }),
      // The price limit is the on-demand price, so only a lack of capacity evicts the machine.
      ...(isSpot && { priority: 'Spot', evictionPolicy: 'Deallocate', billingProfile: { maxPrice: -1 } }),
    },
  };
}

/** `eastus-1` is zone 1 of the region `eastus`. */
function regionOf({ region, zone }: Place): { region: string; zones?: string[] } {
  if (region === null || !REGION.test(region)) throw invalidRequest('The environment names no Azure region.');
  if (zone === null || zone === region) return { region };
  const number = zone.startsWith(`${region}-`) ? zone.slice(region.length + 1) : zone;
  if (!/^[1-9]$/.test(number)) throw invalidRequest(`${zone} is not an availability zone of ${region}.`);
  return { region, zones: [number] };
}

function subnetId({ network, subnet }: Place, group: string, subscription: string): string {
  if (subnet !== null && SUBNET_ID.test(subnet)) return subnet;
  if (network === null || !RESOURCE.test(network))
    throw invalidRequest('The network of the environment is not the name of a virtual network.');
  if (subnet === null || !RESOURCE.test(subnet))
    throw invalidRequest('The subnet of the environment is neither the name nor the resource id of a subnet.');
  const provider = 'providers/Microsoft.Network';
  return `/subscriptions/${subscription}/resourceGroups/${group}/${provider}/virtualNetworks/${network}/subnets/${subnet}`;
}

/** Azure treats `Team` and `team` as the same tag, so a user's label could otherwise replace one that names the owner. */
function tagsOf(spec: NodeSpec): Record<string, string> {
  const tags = machineLabels(spec, MAX_TAGS);
  const entries = Object.entries(tags);
  if (entries.length > MAX_TAGS)
    throw invalidRequest(
      `The machine would have ${entries.length} tags, and Azure allows ${MAX_TAGS}. Remove some labels.`,
    );
  const names = new Set<string>();
  for (const [name, value] of entries) {
    if (name === '' || name.length > MAX_TAG_NAME_LENGTH || /[<>%&\\?/\p{Cc}]/u.test(name))
      throw invalidRequest(`Azure does not allow a tag with the name ${JSON.stringify(name.slice(0, 60))}.`);
    if (value.length > MAX_TAG_VALUE_LENGTH)
      throw invalidRequest(`The value of the tag ${name} is longer than ${MAX_TAG_VALUE_LENGTH} characters.`);
    if (names.has(name.toLowerCase()))
      throw invalidRequest(
        `Two tags have the name ${name} in different case, which Azure treats as one. Rename a label.`,
      );
    names.add(name.toLowerCase());
  }
  return tags;
}

function imageReference(image: string): ImageReference {
  const [, publisher, offer, sku, version] = URN.exec(image) ?? [];
  if (publisher !== undefined) return { publisher, offer, sku, version };
  if (!RESOURCE_ID.test(image))
    throw invalidRequest('The image is neither publisher:offer:sku:version nor the resource id of an image.');
  if (/^\/communityGalleries\//i.test(image)) return { communityGalleryImageId: image };
  if (/^\/sharedGalleries\//i.test(image)) return { sharedGalleryImageId: image };
  if (/^\/subscriptions\//i.test(image)) return { id: image };
  throw invalidRequest('The image is not the resource id of an image or of a gallery image.');
}

function identityOf(identity: string): NonNullable<VirtualMachine['identity']> {
  if (!IDENTITY_ID.test(identity))
    throw invalidRequest('The cloud identity is not the resource id of a user-assigned identity.');
  return { type: 'UserAssigned', userAssignedIdentities: { [identity]: {} } };
}

function isSeparateDisk({ type, iops, throughputMb }: NodeDisk): boolean {
  return SEPARATE_DISK_TYPES.has(type) || iops !== null || throughputMb !== null;
}

function separateDisk({ type, gib, iops, throughputMb }: NodeDisk): Omit<Disk, 'location'> {
  return {
    sku: { name: type },
    creationData: { createOption: 'Empty' },
    diskSizeGB: gib,
    ...(iops !== null && { diskIopsReadWrite: iops }),
    ...(throughputMb !== null && { diskMBpsReadWrite: throughputMb }),
  };
}

function dataDisk(disk: NodeDisk, lun: number, name: string, id: string): DataDisk {
  const common = { lun, deleteOption: 'Delete' } as const;
  if (isSeparateDisk(disk)) return { ...common, createOption: 'Attach', caching: 'None', managedDisk: { id } };
  const { gib: diskSizeGB, type: storageAccountType } = disk;
  return { ...common, name, createOption: 'Empty', diskSizeGB, managedDisk: { storageAccountType } };
}

/** Returns a public key in OpenSSH's format whose private key is discarded: Azure creates no Linux machine without a login. */
function unusableKey(): string {
  const { x = '' } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
  const field = (content: Buffer): Buffer => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(content.length);
    return Buffer.concat([length, content]);
  };
  const kind = 'ssh-ed25519';
  const wire = Buffer.concat([field(Buffer.from(kind)), field(Buffer.from(x, 'base64url'))]);
  return `${kind} ${wire.toString('base64')} ${ADMIN}`;
}
