import { LONG_JSON, readUntrusted } from '../json/parse-json';
import { RightsUnknownError } from './missing-rights';
import { printable } from '../object-storage/store-fault';
import { type OutboundRequest, sendOutbound } from '../outbound-policy/outbound-request';
import {
  type CheckContext,
  connectionFailure,
  type CredentialCheck,
  notWorking,
  ProviderUnreachableError,
  working,
} from './credential-check';

const MAX_RESPONSE_BYTES = 64 * 1024;

/** Error codes of the server's own failures (RFC 6749, 4.1.2.1). */
const SERVER_TROUBLE: ReadonlySet<unknown> = new Set(['server_error', 'temporarily_unavailable']);

/**
 * Requests an access token from a token endpoint (RFC 6749, 4.4 and RFC 7523, 2.1). The credentials work if it is granted.
 * Redirects are not followed, because the form contains a secret.
 * @param principal owner of the token
 */
export async function checkByToken(
  endpoint: string,
  form: Readonly<Record<string, string>>,
  principal: string,
  secrets: readonly string[],
  context: CheckContext,
): Promise<CredentialCheck & { token: string | null }> {
  const url = new URL(endpoint);
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const request = { method: 'POST', headers, body: new URLSearchParams(form).toString() };
  const { status, text } = await send(url, request, context);
  const body = parsedObject(text);
  const { error, error_description: description, access_token: token } = body;
  if (status === 200 && typeof token === 'string') return { ...working(principal), token };
  const isRefusal = [400, 401, 403].includes(status) && typeof error === 'string' && !SERVER_TROUBLE.has(error);
  if (!isRefusal)
    throw new ProviderUnreachableError(url.host, `sent a response that is not from a token endpoint (HTTP ${status})`);
  const reason = typeof description === 'string' ? `${error}: ${description}` : error;
  return { ...notWorking(reason, secrets), token: null };
}

/** Returns the result without the token, which callers must not get. */
export function withoutToken({ working: works, checkedAs, reason }: CredentialCheck): CredentialCheck {
  return { working: works, checkedAs, reason };
}

/** Sends one request and does not follow redirects. */
export async function send(
  url: URL,
  request: Pick<OutboundRequest, 'method' | 'headers' | 'body'>,
  context: CheckContext,
): Promise<{ status: number; text: string }> {
  const headers = { ...request.headers, Accept: 'application/json' };
  try {
    const response = await sendOutbound(url, { ...request, headers, maxBytes: MAX_RESPONSE_BYTES, ...context });
    return { status: response.status, text: response.body.toString() };
  } catch (error) {
    throw connectionFailure(url.host, error);
  }
}

/** Parses a response about rights. Throws a {@link RightsUnknownError} with the provider's message if the call failed. */
export function parseGrants(
  { status, text }: { status: number; text: string },
  host: string,
  secrets: readonly string[],
): Record<string, unknown> {
  const content = parsedObject(text);
  if (status === 200) return content;
  const { message } = Object(content['error']) as { message?: unknown };
  const words = typeof message === 'string' ? printable(message, secrets) : '';
  throw new RightsUnknownError(words || `${host} answered with HTTP ${status}`);
}

export function parsedObject(text: string): Record<string, unknown> {
  return Object(readUntrusted(text, LONG_JSON)) as Record<string, unknown>;
}
