import { type OutboundAgents, AddressRefusedError } from '../outbound-policy/outbound-policy';
import { errorField, printable } from '../object-storage/store-fault';

/** Result of a check: whether the provider accepts the credentials, and its reasons. */
export interface CredentialCheck {
  working: boolean;
  /** The account or principal of the credentials as the provider names it; null if it does not. */
  checkedAs: string | null;
  /** The reason if the credentials do not work, or the rights that they lack, without secrets; null if neither is the case. */
  reason: string | null;
}

export interface CheckContext {
  agents: OutboundAgents;
  /** Aborts the check. */
  signal: AbortSignal;
}

/**
 * The provider did not respond, or its response does not say whether the credentials work. The message names its host and
 * contains no secret.
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

/** The platform cannot check such credentials, for the reason in the message. */
export class CheckUnsupportedError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CheckUnsupportedError';
  }
}

/** @param lacks a sentence about missing rights; null for none */
export function working(checkedAs: string | null, lacks: string | null = null): CredentialCheck {
  return { working: true, checkedAs, reason: lacks };
}

/** @param secrets values that are masked in the reason, which may quote them */
export function notWorking(reason: string, secrets: readonly string[] = []): CredentialCheck {
  return { working: false, checkedAs: null, reason: printable(reason, secrets) || 'The provider gave no reason.' };
}

/** Returns the error of a call without a response: {@link AddressRefusedError} of the policy, or {@link ProviderUnreachableError}. */
export function connectionFailure(server: string, error: unknown): Error {
  if (errorField(error, 'code') === 'ERR_ADDRESS_REFUSED') {
    return new AddressRefusedError(
      errorField(error, 'message') ?? 'The outbound policy does not allow calls to the address.',
    );
  }
  const code = errorField(error, 'code') ?? 'no connection';
  return new ProviderUnreachableError(server, `cannot be reached (${code})`, { cause: error });
}
