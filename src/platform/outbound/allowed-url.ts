import { AddressRefusedError, type OutboundPolicy } from '../../../libs/outbound-policy/outbound-policy';
import { invalid } from '../errors/domain-error';

/**
 * Throws a 400 of the code, with the policy's reason, for a URL that may not be called. What its host resolves to is seen
 * when it is called.
 */
export function assertUrlAllowed(outbound: OutboundPolicy, url: string, code: string): void {
  try {
    outbound.assertUrl(url);
  } catch (error) {
    throw error instanceof AddressRefusedError ? invalid(code, error.message) : error;
  }
}
