import { nameEnum } from '../../../../platform/kernel/dto/named-enums';
import type { StoreProvider } from '../../../../../libs/object-storage/open-object-store';
import { invalid } from '../../../../platform/kernel/errors/domain-error';
import { requireRecord } from '../../../../platform/http/resources/require-record';
import {
  CLOUD_PROVIDER_ID,
  type CloudProviderName,
  CREDENTIAL_TYPE_ID,
  type ReferenceData,
} from '../../../foundation/reference-data';

/** Cloud providers whose object stores the platform supports. */
export const STORE_CLOUD_PROVIDERS = nameEnum(
  'StoreCloudProvider',
  ['GCP', 'AWS', 'Azure', 'OnPrem'],
  'A provider of object stores.',
  { OnPrem: 'a store with the API of S3 at an endpoint of its own' },
) satisfies readonly CloudProviderName[];

export type StoreCloudProviderName = (typeof STORE_CLOUD_PROVIDERS)[number];

/** API and credential type of a provider's object stores. */
export const STORE_ACCESS: Record<StoreCloudProviderName, { provider: StoreProvider; credentialTypeId: number }> = {
  GCP: { provider: 'gcp', credentialTypeId: CREDENTIAL_TYPE_ID.googleServiceAccount },
  AWS: { provider: 'aws', credentialTypeId: CREDENTIAL_TYPE_ID.awsAccessSecretKeyPair },
  Azure: { provider: 'azure', credentialTypeId: CREDENTIAL_TYPE_ID.azureServicePrincipal },
  OnPrem: { provider: 's3-compatible', credentialTypeId: CREDENTIAL_TYPE_ID.customS3 },
};

/** Returns undefined if the platform does not support the provider's stores. */
export function storeCloudProvider(cloudProviderId: number): StoreCloudProviderName | undefined {
  return STORE_CLOUD_PROVIDERS.find((name) => CLOUD_PROVIDER_ID[name] === cloudProviderId);
}

/** Throws 400 unless the credentials have the type that the provider's stores need. */
export function assertStoreCredentials(
  provider: StoreCloudProviderName,
  credentials: { name: string; credential_type_id: number },
  user: { code: string; label: string },
  referenceData: ReferenceData,
): void {
  const requiredId = STORE_ACCESS[provider].credentialTypeId;
  const typeId = credentials.credential_type_id;
  if (typeId === requiredId) return;
  const required = requireRecord(referenceData.credentialType(requiredId), 'credential type', requiredId);
  const actual = requireRecord(referenceData.credentialType(typeId), 'credential type', typeId);
  throw invalid(
    `${user.code}.CREDENTIAL_TYPE`,
    `${user.label} of ${provider} needs credentials of type ${required.name}, but "${credentials.name}" has type ${actual.name}.`,
  );
}
