import { LOCAL_ENDPOINT } from '../cloud-envs/cloud-envs.contract';
import { CLOUD_PROVIDER_ID } from '../reference-data/reference-data.contract';

/** Where a cloud environment's nodes are made; null when this release has no driver for it. */
export function computeDriverName(cloudProviderId: number, endpoint: string | null): 'local' | null {
  return cloudProviderId === CLOUD_PROVIDER_ID.OnPrem && endpoint === LOCAL_ENDPOINT ? 'local' : null;
}
