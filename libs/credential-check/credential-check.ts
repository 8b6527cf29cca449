import { type OutboundAgents, AddressRefusedError } from '../outbound-policy/outbound-policy';
import { errorField, printable } from '../object-storage/store-fault';

/** Whether a provider accepts the credentials, in its own words. */
export interface CredentialCheck {
  working: boolean;
  /** The account or principal that the credentials belong to, as the provider says; null where it does not say. */
  checkedAs: string | null;
  /** Why they do not work, or what they are not allowed, without secrets; null if there is nothing to say. */
  reason: string | null;
}

/** What a check of one provider gets besides the credentials. */
export interface CheckContext {
  agents: OutboundAgents;
  /** Ends the call; whatever it does then is no longer waited for. */
  signal: AbortSignal;
}

/**
 * The provider's answer does not say whether the credentials work, or there was none. The message names its host and no
 * secret.
 */
export class ProviderUnreachableError extends Error {
  /** @param server host and port */
  constructor(
    readonly server: string,
    reason: string,
    options?: { cause?: unknown },
  ) {
    super(`${server} ${reason}`, options);
    this.name = 'ProviderUnreachableError';
  }
}

/** Whether such credentials work cannot be checked, for the reason in the message. */
export class CheckUnsupportedError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CheckUnsupportedError';
  }
}

/** @param lacks what they are not allowed, for people */
export function working(checkedAs: string | null, lacks: string | null = null): CredentialCheck {
  return { working: true, checkedAs, reason: lacks };
}

/** @param secrets what must not be repeated, whatever the provider quotes */
export function notWorking(reason: string, secrets: readonly string[] = []): CredentialCheck {
  return { working: false, checkedAs: null, reason: printable(reason, secrets) || 'The provider gave no reason.' };
}

/** The error of a call without an answer: {@link AddressRefusedError} of the policy, or that nothing can be reached. */
export function connectionFailure(server: string, error: unknown): Error {
  if (errorField(error, 'code') === 'ERR_ADDRESS_REFUSED') {
    return new AddressRefusedError(errorField(error, 'message') ?? 'The address may not be called.');
  }
  const code = errorField(error, 'code') ?? 'no connection';
  return new ProviderUnreachableError(server, `cannot be reached (${code})`, { cause: error });
}
