import { request as httpRequest, type IncomingHttpHeaders, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { OutboundAgents } from '../../outbound-policy/outbound-policy';
import { readBody } from '../response-body';
import { withRequestDeadline } from '../request-deadline';

export interface UnityRequest {
  url: URL;
  /** JSON of an idempotent POST; without it, the request is a GET. */
  body: string | undefined;
  token: string;
  agents: OutboundAgents;
  /** Timeout of the request and its whole response, milliseconds. */
  timeoutMs: number;
  signal: AbortSignal;
}

export interface UnityResponse {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/**
 * Sends one request and reads the whole response. Follows no redirect, because the token is only for this server. One
 * deadline covers everything, so a server that sends a byte now and then cannot delay the caller. Throws `MetastoreError`.
 */
export function sendUnityRequest(call: UnityRequest): Promise<UnityResponse> {
  return withRequestDeadline(call.url.host, call.timeoutMs, call.signal, (signal) => exchange(call, signal, true));
}

async function exchange(call: UnityRequest, signal: AbortSignal, mayRepeat: boolean): Promise<UnityResponse> {
  const { url, body, token, agents } = call;
  const secure = url.protocol === 'https:';
  const options: RequestOptions = {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      Authorization: `Bearer ${token}`,
      Accept: 'application/json',
      ...(body === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }),
    },
    agent: secure ? agents.https : agents.http,
    signal,
  };
  const request = secure ? httpsRequest(url, options) : httpRequest(url, options);
  try {
    return await new Promise<UnityResponse>((resolve, reject) => {
      request.on('error', reject);
      request.on('response', (response) => {
        const { statusCode = 0, headers } = response;
        readBody(response, headers, signal).then((body) => resolve({ status: statusCode, headers, body }), reject);
      });
      request.end(body);
    });
  } catch (error) {
    // The server closed a kept-alive connection while the request was on its way.
    const isStale = request.reusedSocket && (error as NodeJS.ErrnoException).code === 'ECONNRESET';
    if (isStale && mayRepeat) return exchange(call, signal, false);
    throw error;
  }
}
