import { invalid } from '../../../../platform/kernel/errors/domain-error';
import { requireRecord } from '../../../../platform/http/resources/require-record';
import {
  CLOUD_PROVIDER_ID,
  type CloudProviderRef,
  CREDENTIAL_TYPE_ID,
  type ReferenceData,
} from '../../../foundation/reference-data';

/** Throws 400 unless a referenced record belongs to the environment's provider. `what` names it in the message. */
export function assertProvider(
  referenceData: ReferenceData,
  provider: CloudProviderRef,
  actualId: number,
  what: string,
): void {
  if (actualId === provider.cloud_provider_id) return;
  const actual = requireRecord(referenceData.cloudProvider(actualId), 'cloud provider', actualId);
  throw invalid(
    'CLOUD_ENV.PROVIDER_MISMATCH',
    `${what} belongs to ${actual.name}, but the cloud environment belongs to ${provider.name}.`,
  );
}

/** Throws 400 unless environments of the provider accept credentials of this type. */
export function assertCredentialType(
  referenceData: ReferenceData,
  provider: CloudProviderRef,
  typeId: number,
  name: string,
): void {
  const type = requireRecord(referenceData.credentialType(typeId), 'credential type', typeId);
  assertProvider(referenceData, provider, type.cloud_provider.cloud_provider_id, `Credentials configuration "${name}"`);
  if (provider.cloud_provider_id !== CLOUD_PROVIDER_ID.OnPrem || typeId === CREDENTIAL_TYPE_ID.onPremBasicAuth) return;
  throw invalid(
    'CLOUD_ENV.CREDENTIAL_TYPE',
    `A cloud environment of ${provider.name} needs basic-auth credentials; "${name}" holds ${type.name}.`,
  );
}
