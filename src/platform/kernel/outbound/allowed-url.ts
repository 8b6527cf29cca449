import { AddressRefusedError, type OutboundPolicy } from '../../../../libs/outbound-policy/outbound-policy';
import { invalid } from '../errors/domain-error';

/**
 * True if the text is an http or https URL to which paths can be appended: it has no query and no fragment. It also has no
 * spaces and control characters, which the URL parser drops but other readers do not.
 */
export function isServiceUrl(text: string): boolean {
  return /^https?:\/\/[^\s\p{Cc}?#]+$/u.test(text) && URL.canParse(text);
}

/**
 * Throws a 400 with this code and the policy's reason if the URL must not be called. The addresses of its host are checked
 * when it is called.
 */
export function assertUrlAllowed(outbound: OutboundPolicy, url: string, code: string): void {
  translated(() => outbound.assertUrl(url), code);
}

/** As {@link assertUrlAllowed}, for a host that is called by another protocol than HTTP. */
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
