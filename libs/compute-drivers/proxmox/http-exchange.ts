import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { OutboundAgents } from '../../outbound-policy/outbound-policy';
import { connectionError, ProxmoxError } from './proxmox-error';

export interface HttpExchange {
  url: URL;
  method: string;
  headers: Readonly<Record<string, string>>;
  body: string | Buffer | null;
  agents: OutboundAgents;
  timeoutMs: number;
  /** An answer that is larger ends the call. */
  maxBytes: number;
  signal: AbortSignal | undefined;
}

export interface HttpAnswer {
  status: number;
  /** The reason phrase, in which Proxmox VE says what is wrong. */
  reason: string;
  body: string;
}

/**
 * One request and its whole answer; follows no redirect. Throws {@link ProxmoxError}. One deadline covers everything: a
 * server that sends a byte now and then cannot hold up the caller.
 */
export function exchange(call: HttpExchange): Promise<HttpAnswer> {
  const { url, method, headers, body, agents, timeoutMs, signal } = call;
  const secure = url.protocol === 'https:';
  const options: RequestOptions = { method, headers, agent: secure ? agents.https : agents.http };
  return new Promise<HttpAnswer>((resolve, reject) => {
    const request = secure ? httpsRequest(url, options) : httpRequest(url, options);
    const onAbort = () => end(new ProxmoxError('CANCELLED', 'The call was cancelled.', { cause: signal?.reason }));
    const timer = setTimeout(
      () => end(new ProxmoxError('TIMEOUT', `${url.host} did not answer within ${timeoutMs / 1000} seconds.`)),
      timeoutMs,
    );
    const release = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    };
    const end = (error: ProxmoxError) => {
      release();
      // The answer first: what the aborted request says about its end then comes too late to replace it.
      reject(error);
      request.destroy();
    };
    const failed = (error: Error) => end(error instanceof ProxmoxError ? error : connectionError(url.host, error));
    signal?.addEventListener('abort', onAbort, { once: true });
    request.on('error', failed);
    request.on('response', (response) => {
      collect(response, call).then((answer) => {
        release();
        resolve(answer);
      }, failed);
    });
    if (signal?.aborted) onAbort();
    else request.end(body ?? undefined);
  });
}

async function collect(response: IncomingMessage, { url, maxBytes }: HttpExchange): Promise<HttpAnswer> {
  const chunks: Buffer[] = [];
  let received = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    received += chunk.length;
    if (received > maxBytes) {
      throw new ProxmoxError('NOT_PROXMOX', `${url.host} answers with more than ${maxBytes} bytes.`);
    }
    chunks.push(chunk);
  }
  const { statusCode = 0, statusMessage = '' } = response;
  return { status: statusCode, reason: statusMessage, body: Buffer.concat(chunks).toString('utf8') };
}
