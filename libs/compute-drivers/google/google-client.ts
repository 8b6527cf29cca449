import { createPrivateKey } from 'node:crypto';
import { auth } from '@googleapis/compute';
import { compute_v1 } from '@googleapis/compute/build/v1';
import type { OutboundPolicy } from '../../outbound-policy/outbound-policy';
import { sendOutbound } from '../../outbound-policy/outbound-request';
import { ComputeDriverError, type DriverContext } from '../compute-driver';
import { untilAborted } from '../machines/calls';
import { callFault, recordOf, textOf } from './google-faults';

const ENDPOINT = 'https://compute.googleapis.com/';
const SCOPE = 'https://www.googleapis.com/auth/compute';
const MAX_RESPONSE_BYTES = 64 * 2 ** 20;

/** Calls Compute Engine with the key of one service account, for one call of the driver. */
export class GoogleClient {
  /** Values that are masked in errors. */
  readonly secrets: readonly string[];
  private readonly api: compute_v1.Compute;
  private readonly host: string;

  /**
   * @param endpoint null for Google's public endpoint
   * @throws ComputeDriverError if the key cannot sign
   */
  constructor(
    outbound: OutboundPolicy,
    endpoint: string | null,
    private readonly context: Pick<DriverContext, 'credentials' | 'signal'>,
    secrets: readonly string[],
  ) {
    const { CLIENT_EMAIL: email, PRIVATE_KEY: key = '', PRIVATE_KEY_ID: keyId } = context.credentials;
    this.secrets = [key, ...secrets];
    assertKey(key);
    // The self-signed token is sent as it is, so the token endpoint in the key's file is never called.
    const client = new auth.JWT({ email, key, keyId, scopes: [SCOPE] });
    client.useJWTAccessWithScope = true;
    const rootUrl = endpoint ?? ENDPOINT;
    this.host = hostOf(outbound, rootUrl);
    this.api = new compute_v1.Compute({
      auth: client,
      rootUrl,
      retry: false,
      responseType: 'json',
      fetchImplementation: (input, init) => send(outbound, new URL(requestUrl(input)), init ?? {}),
    });
  }

  /** Sends one request, which rejects as soon as the caller's signal aborts. */
  async call<Answer>(
    request: (api: compute_v1.Compute, options: { signal: AbortSignal }) => Promise<{ data: Answer }>,
  ): Promise<Answer> {
    const { signal } = this.context;
    try {
      const { data } = await untilAborted(signal, () => request(this.api, { signal }));
      // Another server's response would be read as a list without machines.
      if (!textOf(recordOf(data)['kind']).startsWith('compute#')) throw notGoogle(this.host);
      return data;
    } catch (error) {
      throw signal.aborted ? timedOut(this.host, signal.reason) : callFault(error, this.host, this.secrets);
    }
  }
}

function assertKey(key: string): void {
  try {
    if (createPrivateKey(key).asymmetricKeyType === 'rsa') return;
  } catch {
    // The parser's error quotes the key.
  }
  throw new ComputeDriverError('GOOGLE.KEY_INVALID', 'PRIVATE_KEY is not an RSA key in PEM form.', { kind: 'denied' });
}

function hostOf(outbound: OutboundPolicy, url: string): string {
  try {
    return outbound.assertUrl(url).host;
  } catch (error) {
    throw callFault(error, 'Compute Engine', []);
  }
}

function timedOut(host: string, cause: unknown): ComputeDriverError {
  return new ComputeDriverError('GOOGLE.TIMEOUT', `${host} did not answer in time.`, { kind: 'transient', cause });
}

function notGoogle(host: string): ComputeDriverError {
  const message = `${host} sent a response that is not from Compute Engine.`;
  return new ComputeDriverError('GOOGLE.NOT_GOOGLE', message, { kind: 'invalid' });
}

function requestUrl(input: string | URL | Request): string {
  return input instanceof Request ? input.url : String(input);
}

/** Works like `fetch`, through the outbound policy. The SDK's own limit covers only responses that announce their length. */
async function send(outbound: OutboundPolicy, url: URL, init: RequestInit): Promise<Response> {
  const headers = Object.fromEntries(new Headers(init.headers));
  // Compressed responses are not supported.
  delete headers['accept-encoding'];
  const {
    status,
    headers: responseHeaders,
    body,
  } = await sendOutbound(url, {
    ...{ method: init.method ?? 'GET', headers, body: typeof init.body === 'string' ? init.body : null },
    ...{ agents: outbound.agents, maxBytes: MAX_RESPONSE_BYTES, signal: init.signal ?? undefined },
  });
  const retryAfter = responseHeaders['retry-after'];
  const bodiless = status === 204 || status === 205 || status === 304;
  return new Response(bodiless ? null : new Uint8Array(body), {
    status: status >= 200 && status < 600 ? status : 502,
    headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter },
  });
}
