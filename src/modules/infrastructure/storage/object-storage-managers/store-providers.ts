import type { StoreProvider } from '../../../../../libs/object-storage/open-object-store';
import { invalid } from '../../../../platform/kernel/errors/domain-error';
import { known } from '../../../../platform/http/resources/known';
import {
  CLOUD_PROVIDER_ID,
  type CloudProviderName,
  CREDENTIAL_TYPE_ID,
  type ReferenceData,
} from '../../../foundation/reference-data';

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

/** The provider with this id, if the platform reaches its stores. */
export function storeCloudProvider(cloudProviderId: number): StoreCloudProviderName | undefined {
  return STORE_CLOUD_PROVIDERS.find((name) => CLOUD_PROVIDER_ID[name] === cloudProviderId);
}

/** Throws a 400 unless the credentials are of the type that opens the provider's stores. */
export function assertOpensStores(
  provider: StoreCloudProviderName,
  credentials: { name: string; credential_type_id: number },
  user: { code: string; label: string },
  referenceData: ReferenceData,
): void {
  const wantedId = STORE_ACCESS[provider].credentialTypeId;
  const typeId = credentials.credential_type_id;
  if (typeId === wantedId) return;
  const wanted = known(referenceData.credentialType(wantedId), 'credential type', wantedId);
  const actual = known(referenceData.credentialType(typeId), 'credential type', typeId);
  throw invalid(
    `${user.code}.CREDENTIAL_TYPE`,
    `${user.label} of ${provider} needs credentials of the type ${wanted.name}; "${credentials.name}" holds ${actual.name}.`,
  );
}
