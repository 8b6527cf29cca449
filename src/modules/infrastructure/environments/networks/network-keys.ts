import type { AcceptedKeys } from '../../../../platform/http/resources/accepted-keys';
import type { CloudProviderName } from '../../../foundation/reference-data';

export type NetworkKey =
  | 'network_project_id'
  | 'network_name'
  | 'network_tags'
  | 'subnet'
  | 'availability_zone_id'
  | 'bridge'
  | 'model';

const PUBLIC_CLOUD: AcceptedKeys<NetworkKey> = {
  accepted: ['network_project_id', 'network_name', 'subnet', 'availability_zone_id', 'network_tags'],
  required: ['network_project_id', 'network_name', 'subnet', 'availability_zone_id'],
};

/** Keys by provider, from the API specification. */
export const NETWORK_KEYS: Record<CloudProviderName, AcceptedKeys<NetworkKey>> = {
  GCP: PUBLIC_CLOUD,
  AWS: PUBLIC_CLOUD,
  Azure: PUBLIC_CLOUD,
  OCI: {
    accepted: ['network_name', 'subnet', 'availability_zone_id', 'network_tags'],
    required: ['network_name', 'subnet', 'availability_zone_id'],
  },
  OnPrem: { accepted: ['bridge', 'model'], required: ['bridge', 'model'] },
};
