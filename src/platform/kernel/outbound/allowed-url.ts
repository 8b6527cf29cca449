import { AddressRefusedError, type OutboundPolicy } from '../../../../libs/outbound-policy/outbound-policy';
import { invalid } from '../errors/domain-error';

/**
 * Whether the text is an http or https URL that paths can be added to: without query and fragment, and without blanks
 * and control characters, which the URL parser drops but other readers of the text do not.
 */
export function isServiceUrl(text: string): boolean {
  return /^https?:\/\/[^\s\p{Cc}?#]+$/u.test(text) && URL.canParse(text);
}

/**
 * Throws a 400 of the code, with the policy's reason, for a URL that may not be called. What its host resolves to is
 * checked when it is called.
 */
export function assertUrlAllowed(outbound: OutboundPolicy, url: string, code: string): void {
  translated(() => outbound.assertUrl(url), code);
}

/** The same for a host that is called by another protocol than HTTP. */
export function assertHostAllowed(outbound: OutboundPolicy, host: string, code: string): void {
  translated(() => outbound.assertHost(host), code);
}

function translated(check: () => unknown, code: string): void {
  try {
    check();
  } catch (error) {
    throw error instanceof AddressRefusedError ? invalid(code, error.message) : error;
  }
}
