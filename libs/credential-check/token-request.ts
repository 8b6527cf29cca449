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
 * Asks a token endpoint for an access token (RFC 6749, 4.4 and RFC 7523, 2.1) and drops it: granting it is the answer.
 * Redirects are not followed, since the form holds a secret.
 * @param principal whose token it is
 */
export async function checkByToken(
  endpoint: string,
  form: Readonly<Record<string, string>>,
  principal: string,
  secrets: readonly string[],
  context: CheckContext,
): Promise<CredentialCheck> {
  const url = new URL(endpoint);
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const { status, text } = await post(url, new URLSearchParams(form).toString(), headers, context);
  const body = parsedObject(text);
  if (status === 200 && typeof body['access_token'] === 'string') return working(principal);
  const { error, error_description: description } = body;
  const isRefusal = [400, 401, 403].includes(status) && typeof error === 'string' && !SERVER_TROUBLE.has(error);
  if (!isRefusal)
    throw new ProviderUnreachableError(url.host, `does not answer like a token endpoint (HTTP ${status})`);
  return notWorking(typeof description === 'string' ? `${error}: ${description}` : error, secrets);
}

/** One request; follows no redirect. */
export async function post(
  url: URL,
  body: string,
  headers: Readonly<Record<string, string>>,
  context: CheckContext,
): Promise<{ status: number; text: string }> {
  return ask(url, { method: 'POST', headers, body }, context);
}

/** The same by any method. */
export async function ask(
  url: URL,
  { method, headers, body }: Pick<OutboundRequest, 'method' | 'headers' | 'body'>,
  context: CheckContext,
): Promise<{ status: number; text: string }> {
  const request = { method, headers: { ...headers, Accept: 'application/json' }, body, maxBytes: MAX_ANSWER_BYTES };
  try {
    const answer = await sendOutbound(url, { ...request, ...context });
    return { status: answer.status, text: answer.body.toString() };
  } catch (error) {
    throw connectionFailure(url.host, error);
  }
}

export function parsedObject(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>;
  } catch {
    return {};
  }
}
