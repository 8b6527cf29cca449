import { invalid } from '../../../../platform/kernel/errors/domain-error';
import { known } from '../../../../platform/http/resources/known';
import {
  CLOUD_PROVIDER_ID,
  type CloudProviderRef,
  CREDENTIAL_TYPE_ID,
  type ReferenceData,
} from '../../../foundation/reference-data';

/** Throws a 400 unless what an environment refers to belongs to the environment's provider. */
export function assertProvider(
  referenceData: ReferenceData,
  provider: CloudProviderRef,
  actualId: number,
  what: string,
): void {
  if (actualId === provider.cloud_provider_id) return;
  const actual = known(referenceData.cloudProvider(actualId), 'cloud provider', actualId);
  throw invalid(
    'CLOUD_ENV.PROVIDER_MISMATCH',
    `${what} belongs to ${actual.name}, the cloud environment to ${provider.name}.`,
  );
}

/** Throws a 400 unless the credentials are of a kind that environments of the provider accept. */
export function assertCredentialType(
  referenceData: ReferenceData,
  provider: CloudProviderRef,
  typeId: number,
  name: string,
): void {
  const type = known(referenceData.credentialType(typeId), 'credential type', typeId);
  assertProvider(referenceData, provider, type.cloud_provider.cloud_provider_id, `Credentials configuration "${name}"`);
  if (provider.cloud_provider_id !== CLOUD_PROVIDER_ID.OnPrem || typeId === CREDENTIAL_TYPE_ID.onPremBasicAuth) return;
  throw invalid(
    'CLOUD_ENV.CREDENTIAL_TYPE',
    `A cloud environment of ${provider.name} needs basic-auth credentials; "${name}" holds ${type.name}.`,
  );
}
