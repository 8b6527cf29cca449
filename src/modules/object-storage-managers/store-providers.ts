import type { StoreProvider } from '../../../libs/object-storage/open-object-store';
import { type CloudProviderName, CREDENTIAL_TYPE_ID } from '../reference-data/reference-data.contract';

/** Cloud providers with object stores that the platform reaches. */
export const STORE_CLOUD_PROVIDERS = ['GCP', 'AWS', 'Azure', 'OnPrem'] as const satisfies CloudProviderName[];

export type StoreCloudProviderName = (typeof STORE_CLOUD_PROVIDERS)[number];

/** By whose API a provider's stores are reached, and with which type of credentials. */
export const STORE_ACCESS: Record<StoreCloudProviderName, { provider: StoreProvider; credentialTypeId: number }> = {
  GCP: { provider: 'gcp', credentialTypeId: CREDENTIAL_TYPE_ID.googleServiceAccount },
  AWS: { provider: 'aws', credentialTypeId: CREDENTIAL_TYPE_ID.awsAccessSecretKeyPair },
  Azure: { provider: 'azure', credentialTypeId: CREDENTIAL_TYPE_ID.azureServicePrincipal },
  OnPrem: { provider: 's3-compatible', credentialTypeId: CREDENTIAL_TYPE_ID.customS3 },
};
