import { AddressRefusedError, type OutboundPolicy } from '../../../libs/outbound-policy/outbound-policy';
import { type DomainError, invalid } from '../../platform/errors/domain-error';

/** Throws a 400 with the policy's reason when the credentials name an endpoint that may not be called. */
export function assertEndpointAllowed(values: Readonly<Record<string, string>>, outbound: OutboundPolicy): void {
  const endpoint = values['S3_ENDPOINT'];
  if (endpoint === undefined) return;
  try {
    outbound.assertUrl(endpoint);
  } catch (error) {
    if (error instanceof AddressRefusedError) throw endpointRefused(error);
    throw error;
  }
}

export function endpointRefused(error: AddressRefusedError): DomainError {
  return invalid('CREDENTIALS_CONF.ENDPOINT_REFUSED', error.message);
}
