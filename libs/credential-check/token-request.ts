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

/** No token endpoint gives longer answers. */
const MAX_ANSWER_BYTES = 64 * 1024;

/** Codes that are about the server and not about the client (RFC 6749, 4.1.2.1). */
const SERVER_TROUBLE: ReadonlySet<unknown> = new Set(['server_error', 'temporarily_unavailable']);

/**
 * Asks a token endpoint for an access token (RFC 6749, 4.4 and RFC 7523, 2.1): granting it is the answer. Redirects are
 * not followed, since the form holds a secret.
 * @param principal whose token it is
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
    throw new ProviderUnreachableError(url.host, `does not answer like a token endpoint (HTTP ${status})`);
  const reason = typeof description === 'string' ? `${error}: ${description}` : error;
  return { ...notWorking(reason, secrets), token: null };
}

/** The answer for those who ask: the token is nobody's business. */
export function withoutToken({ working: works, checkedAs, reason }: CredentialCheck): CredentialCheck {
  return { working: works, checkedAs, reason };
}

/** One request; follows no redirect. */
export async function send(
  url: URL,
  request: Pick<OutboundRequest, 'method' | 'headers' | 'body'>,
  context: CheckContext,
): Promise<{ status: number; text: string }> {
  const headers = { ...request.headers, Accept: 'application/json' };
  try {
    const answer = await sendOutbound(url, { ...request, headers, maxBytes: MAX_ANSWER_BYTES, ...context });
    return { status: answer.status, text: answer.body.toString() };
  } catch (error) {
    throw connectionFailure(url.host, error);
  }
}

/** The content of an answer that tells what somebody may do; throws with the provider's words where it does not. */
export function parseGrants(
  { status, text }: { status: number; text: string },
  host: string,
  secrets: readonly string[],
): Record<string, unknown> {
  const content = parsedObject(text);
  if (status === 200) return content;
  const { message } = Object(content['error']) as { message?: unknown };
  const words = typeof message === 'string' ? printable(message, secrets) : '';
  throw new RightsUnknownError(words || `${host} answers HTTP ${status}`);
}

export function parsedObject(text: string): Record<string, unknown> {
  return Object(readUntrusted(text, LONG_JSON)) as Record<string, unknown>;
}
