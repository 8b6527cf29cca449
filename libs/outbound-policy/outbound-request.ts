import { type IncomingHttpHeaders, type IncomingMessage, request as httpRequest, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { OutboundAgents } from './outbound-policy';

export interface OutboundRequest {
  method: string;
  headers: Readonly<Record<string, string>>;
  body: string | Buffer | null;
  agents: OutboundAgents;
  /** The request fails with {@link ResponseTooLongError} when the body is longer. */
  maxBytes: number;
  signal?: AbortSignal | undefined;
}

export interface OutboundResponse {
  status: number;
  /** The reason phrase. */
  reason: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** The server sends a longer body than the caller accepts. */
export class ResponseTooLongError extends Error {
  constructor(
    host: string,
    readonly maxBytes: number,
  ) {
    super(`The response of ${host} has more than ${maxBytes} bytes`);
    this.name = 'ResponseTooLongError';
  }
}

/** Sends one request through the agents of the outbound policy and reads the whole response. Follows no redirect. */
export function sendOutbound(
  url: URL,
  { agents, maxBytes, body, ...rest }: OutboundRequest,
): Promise<OutboundResponse> {
  const secure = url.protocol === 'https:';
  const options: RequestOptions = { ...rest, agent: secure ? agents.https : agents.http };
  return new Promise((resolve, reject) => {
    const request = secure ? httpsRequest(url, options) : httpRequest(url, options);
    request.on('error', reject);
    request.on('response', (response) => {
      collect(response, url.host, maxBytes).then(resolve, (error: Error) => {
        reject(error);
        request.destroy();
      });
    });
    request.end(body ?? undefined);
  });
}

async function collect(response: IncomingMessage, host: string, maxBytes: number): Promise<OutboundResponse> {
  const chunks: Buffer[] = [];
  let received = 0;
  // The content-length that a server announces is not trusted.
  for await (const chunk of response as AsyncIterable<Buffer>) {
    received += chunk.length;
    if (received > maxBytes) throw new ResponseTooLongError(host, maxBytes);
    chunks.push(chunk);
  }
  const { statusCode: status = 0, statusMessage: reason = '', headers } = response;
  return { status, reason, headers, body: Buffer.concat(chunks) };
}
