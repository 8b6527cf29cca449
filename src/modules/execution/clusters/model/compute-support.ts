import type { AcceleratorKind } from '../../../../../libs/contracts/agent-protocol';
import { LOCAL_ENDPOINT } from '../../../infrastructure/environments';
import { CLOUD_PROVIDER_ID } from '../../../foundation/reference-data';

/** What a compute driver of this release serves. */
interface DriverEntry {
  cloudProviderId: number;
  serves(endpoint: string | null): boolean;
  /** For people, as in "clusters of …". */
  description: string;
  /** What its nodes cannot be accelerated by, whatever their machines; absent for nothing. */
  lacks?: readonly AcceleratorKind[];
  /** Whether its provider sells no spot machines. */
  lacksSpot?: boolean;
  /** Whether its spot machines cannot be stopped, as its driver's `canStop` says. */
  endsSpot?: boolean;
  /** By what of a place its provider shows machines together; absent where nodes are found without credentials. */
  showsBy?: readonly ('account' | 'region')[];
}

/** Every compute driver of this release. Only a worker has the drivers themselves: `provisioning/drivers.ts`. */
const COMPUTE_DRIVERS = {
  local: {
    cloudProviderId: CLOUD_PROVIDER_ID.OnPrem,
    serves: (endpoint) => endpoint === LOCAL_ENDPOINT,
    description: `OnPrem environments with the endpoint ${LOCAL_ENDPOINT}`,
    lacks: ['cuda'],
  },
  aws: {
    cloudProviderId: CLOUD_PROVIDER_ID.AWS,
    serves: () => true,
    description: 'AWS environments',
    endsSpot: true,
    showsBy: ['region'],
  },
  proxmox: {
    cloudProviderId: CLOUD_PROVIDER_ID.OnPrem,
    serves: (endpoint) => endpoint?.startsWith('https://') ?? false,
    description: 'OnPrem environments with the endpoint of a Proxmox VE (https://…)',
    lacks: ['cuda'],
    lacksSpot: true,
    showsBy: [],
  },
  azure: {
    cloudProviderId: CLOUD_PROVIDER_ID.Azure,
    serves: () => true,
    description: 'Azure environments',
    endsSpot: true,
    showsBy: ['account'],
  },
  google: {
    cloudProviderId: CLOUD_PROVIDER_ID.GCP,
    serves: () => true,
    description: 'GCP environments',
    showsBy: ['account', 'region'],
  },
  oci: {
    cloudProviderId: CLOUD_PROVIDER_ID.OCI,
    serves: () => true,
    description: 'OCI environments',
    endsSpot: true,
    showsBy: ['account', 'region'],
  },
} as const satisfies Record<string, DriverEntry>;

export type ComputeDriverName = keyof typeof COMPUTE_DRIVERS;

const ENTRIES = Object.entries(COMPUTE_DRIVERS) as [ComputeDriverName, DriverEntry][];

/** The driver that makes a cloud environment's nodes; null when this release has none for it. */
export function computeDriverName(cloudProviderId: number, endpoint: string | null): ComputeDriverName | null {
  const found = ENTRIES.find(([, one]) => one.cloudProviderId === cloudProviderId && one.serves(endpoint));
  return found?.[0] ?? null;
}

/** Whether nodes of a cloud environment cannot have the accelerator, whatever their machines. */
export function lacksAccelerator(
  cloudProviderId: number,
  endpoint: string | null,
  accelerator: AcceleratorKind,
): boolean {
  const name = computeDriverName(cloudProviderId, endpoint);
  const entry: DriverEntry | undefined = name === null ? undefined : COMPUTE_DRIVERS[name];
  return entry?.lacks?.includes(accelerator) ?? false;
}

/** Whether nodes of a cloud environment cannot be spot machines. */
export function lacksSpot(cloudProviderId: number, endpoint: string | null): boolean {
  const name = computeDriverName(cloudProviderId, endpoint);
  const entry: DriverEntry | undefined = name === null ? undefined : COMPUTE_DRIVERS[name];
  return entry?.lacksSpot ?? false;
}

/** Whether the spot machines of a cloud environment cannot be stopped: stopping their cluster destroys them. */
export function endsSpot(cloudProviderId: number, endpoint: string | null): boolean {
  const name = computeDriverName(cloudProviderId, endpoint);
  const entry: DriverEntry | undefined = name === null ? undefined : COMPUTE_DRIVERS[name];
  return entry?.endsSpot ?? false;
}

/** What of a place decides which machines the provider shows together; null where nodes are found without credentials. */
export function shownTogetherBy(
  cloudProviderId: number,
  endpoint: string | null,
): readonly ('account' | 'region')[] | null {
  const name = computeDriverName(cloudProviderId, endpoint);
  const entry: DriverEntry | undefined = name === null ? undefined : COMPUTE_DRIVERS[name];
  return entry?.showsBy ?? null;
}

/** The environments that this release makes nodes for, for people. */
export function servedEnvironments(): string {
  return ENTRIES.map(([, { description }]) => description).join(', ');
}
