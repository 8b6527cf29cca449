import type { AcceleratorKind } from '../../../../../libs/contracts/agent-protocol';
import { LOCAL_ENDPOINT } from '../../../infrastructure/environments';
import { CLOUD_PROVIDER_ID } from '../../../foundation/reference-data';

/** A compute driver of this release and the environments that it serves. */
interface DriverEntry {
  cloudProviderId: number;
  serves(endpoint: string | null): boolean;
  /** Text for users, as in "clusters of …". */
  description: string;
  /** Accelerators that its nodes cannot have, whatever their machines; absent if there are none. */
  lackedAccelerators?: readonly AcceleratorKind[];
  lacksSpot?: boolean;
  /** True if its spot machines cannot be stopped, as its driver's `canStop` says. */
  endsSpot?: boolean;
  /**
   * The scope of one list call of its provider: per account, per region, or both. Absent if nodes are found without
   * credentials.
   */
  listScope?: readonly ('account' | 'region')[];
}

/** Every compute driver of this release. Only workers have the drivers themselves: `provisioning/drivers.ts`. */
const COMPUTE_DRIVERS = {
  local: {
    cloudProviderId: CLOUD_PROVIDER_ID.OnPrem,
    serves: (endpoint) => endpoint === LOCAL_ENDPOINT,
    description: `OnPrem environments with the endpoint ${LOCAL_ENDPOINT}`,
    lackedAccelerators: ['cuda'],
  },
  aws: {
    cloudProviderId: CLOUD_PROVIDER_ID.AWS,
    serves: () => true,
    description: 'AWS environments',
    endsSpot: true,
    listScope: ['region'],
  },
  proxmox: {
    cloudProviderId: CLOUD_PROVIDER_ID.OnPrem,
    serves: (endpoint) => endpoint?.startsWith('https://') ?? false,
    description: 'OnPrem environments with the endpoint of a Proxmox VE (https://…)',
    lackedAccelerators: ['cuda'],
    lacksSpot: true,
    listScope: [],
  },
  azure: {
    cloudProviderId: CLOUD_PROVIDER_ID.Azure,
    serves: () => true,
    description: 'Azure environments',
    endsSpot: true,
    listScope: ['account'],
  },
  google: {
    cloudProviderId: CLOUD_PROVIDER_ID.GCP,
    serves: () => true,
    description: 'GCP environments',
    listScope: ['account', 'region'],
  },
  oci: {
    cloudProviderId: CLOUD_PROVIDER_ID.OCI,
    serves: () => true,
    description: 'OCI environments',
    endsSpot: true,
    listScope: ['account', 'region'],
  },
} as const satisfies Record<string, DriverEntry>;

export type ComputeDriverName = keyof typeof COMPUTE_DRIVERS;

const ENTRIES = Object.entries(COMPUTE_DRIVERS) as [ComputeDriverName, DriverEntry][];

/** Returns the driver of a cloud environment's nodes; null if this release has none for it. */
export function computeDriverName(cloudProviderId: number, endpoint: string | null): ComputeDriverName | null {
  const found = ENTRIES.find(([, one]) => one.cloudProviderId === cloudProviderId && one.serves(endpoint));
  return found?.[0] ?? null;
}

/** True if nodes of a cloud environment cannot have the accelerator, whatever their machines. */
export function lacksAccelerator(
  cloudProviderId: number,
  endpoint: string | null,
  accelerator: AcceleratorKind,
): boolean {
  const name = computeDriverName(cloudProviderId, endpoint);
  const entry: DriverEntry | undefined = name === null ? undefined : COMPUTE_DRIVERS[name];
  return entry?.lackedAccelerators?.includes(accelerator) ?? false;
}

/** True if nodes of a cloud environment cannot be spot machines. */
export function lacksSpot(cloudProviderId: number, endpoint: string | null): boolean {
  const name = computeDriverName(cloudProviderId, endpoint);
  const entry: DriverEntry | undefined = name === null ? undefined : COMPUTE_DRIVERS[name];
  return entry?.lacksSpot ?? false;
}

/** True if the spot machines of a cloud environment cannot be stopped, so that stopping their cluster destroys them. */
export function endsSpot(cloudProviderId: number, endpoint: string | null): boolean {
  const name = computeDriverName(cloudProviderId, endpoint);
  const entry: DriverEntry | undefined = name === null ? undefined : COMPUTE_DRIVERS[name];
  return entry?.endsSpot ?? false;
}

/** Returns the scope of one list call of the provider; null if nodes are found without credentials. */
export function listScopeOf(
  cloudProviderId: number,
  endpoint: string | null,
): readonly ('account' | 'region')[] | null {
  const name = computeDriverName(cloudProviderId, endpoint);
  const entry: DriverEntry | undefined = name === null ? undefined : COMPUTE_DRIVERS[name];
  return entry?.listScope ?? null;
}

/** Returns the environments that this release serves, as a text for users. */
export function servedEnvironments(): string {
  return ENTRIES.map(([, { description }]) => description).join(', ');
}
