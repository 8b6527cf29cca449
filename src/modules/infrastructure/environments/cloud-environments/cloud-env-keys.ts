import type { OutboundPolicy } from '../../../../../libs/outbound-policy/outbound-policy';
import { invalid } from '../../../../platform/kernel/errors/domain-error';
import { assertUrlAllowed, isServiceUrl } from '../../../../platform/kernel/outbound/allowed-url';
import type { AcceptedKeys } from '../../../../platform/http/resources/accepted-keys';
import type { CloudProviderName } from '../../../foundation/reference-data';
import { LOCAL_ENDPOINT } from './cloud-envs.joins';

export type CloudEnvKey = 'availability_zone_id' | 'cloud_project' | 'endpoint' | 'onprem_node_names';

export const ENDPOINT_REFUSED = 'CLOUD_ENV.ENDPOINT_REFUSED';

const PUBLIC_CLOUD: AcceptedKeys<CloudEnvKey> = {
  accepted: ['availability_zone_id', 'cloud_project'],
  required: ['availability_zone_id', 'cloud_project'],
};

/** Keys by provider, from the API specification, without those that every provider accepts. */
export const CLOUD_ENV_KEYS: Record<CloudProviderName, AcceptedKeys<CloudEnvKey>> = {
  GCP: PUBLIC_CLOUD,
  AWS: PUBLIC_CLOUD,
  Azure: PUBLIC_CLOUD,
  OCI: { accepted: ['availability_zone_id'], required: [] },
  OnPrem: { accepted: ['endpoint', 'onprem_node_names'], required: ['endpoint'] },
};

/** Throws 400 unless an OnPrem environment may use the endpoint. */
export function assertEndpoint(endpoint: string, localEnabled: boolean, outbound: OutboundPolicy): void {
  if (endpoint === LOCAL_ENDPOINT) {
    if (localEnabled) return;
    throw invalid(
      'CLOUD_ENV.LOCAL_DISABLED',
      `The endpoint ${LOCAL_ENDPOINT} needs a worker with local nodes (COMPUTE_LOCAL_ENABLED), but none has reported recently. Start one, or use another endpoint.`,
    );
  }
  if (!isServiceUrl(endpoint)) {
    throw invalid(
      'CLOUD_ENV.ENDPOINT_INVALID',
      `endpoint must be ${LOCAL_ENDPOINT}, or an http or https URL without query, fragment or white space.`,
    );
  }
  const url = new URL(endpoint);
  if (url.username !== '' || url.password !== '') {
    throw invalid(
      'CLOUD_ENV.ENDPOINT_INVALID',
      'endpoint must not contain a user name or password. Put them in the credentials configuration.',
    );
  }
  assertUrlAllowed(outbound, endpoint, ENDPOINT_REFUSED);
}
