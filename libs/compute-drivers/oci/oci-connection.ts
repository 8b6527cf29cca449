import { createPrivateKey } from 'node:crypto';
import {
  DefaultRequestSigner,
  EndpointBuilder,
  type HttpClient,
  type HttpRequest,
  NoRetryConfigurationDetails,
  SimpleAuthenticationDetailsProvider,
} from 'oci-common';
import { BlockstorageClient, ComputeClient, VirtualNetworkClient } from 'oci-core';
import { LONG_JSON, parseUntrusted, readUntrusted, SHORT_JSON } from '../../json/parse-json';
import type { OutboundAgents } from '../../outbound-policy/outbound-policy';
import { type OutboundResponse, sendOutbound } from '../../outbound-policy/outbound-request';
import { ComputeDriverError } from '../compute-driver';
import { readPages } from '../machines/calls';
import { retryAfterMs } from '../machines/meanings';
import { unexpectedResponse, connectionFault } from '../call-faults';
import { ociFault } from './oci-faults';

/** Credentials that have been validated for use in requests. */
export interface OciKeys {
  tenancy: string;
  user: string;
  fingerprint: string;
  privateKey: string;
  compartment: string;
}

type PageOf<T> = (page: { limit: number; page?: string }) => Promise<{ items: T[]; opcNextPage?: string }>;

export interface OciConnectionOptions {
  keys: OciKeys;
  /** The region becomes a part of a host name. */
  region: string;
  /** Endpoint of all services; null for the public endpoints of the region. */
  endpoint: string | null;
  agents: OutboundAgents;
  signal: AbortSignal;
  /** Values that no error may contain, besides the key. */
  secrets?: readonly string[];
}

/** `us-ashburn-1`, `us-gov-phoenix-1` */
const REGION = /^[a-z]{2,12}(-[a-z]{2,24}){1,3}-\d{1,2}$/;
/** `ocid1.<kind>.<realm>.[region].<unique part>` */
const OCID = /^ocid1\.([a-z0-9]{1,64})\.[a-z0-9-]{1,64}\.[a-z0-9-]{0,64}\.[A-Za-z0-9._-]{1,160}$/;

/** Endpoint templates, as in the SDK's clients. */
const TEMPLATES = {
  identity: 'https://identity.{region}.oci.{secondLevelDomain}',
  iaas: 'https://iaas.{region}.{secondLevelDomain}',
} as const;
const VERSION = '20160918';

/** Listed machines include their user data, at most 32 kB each. */
export const PAGE_SIZE = 500;
const MAX_PAGES = 200;
const MAX_FOUND = MAX_PAGES * PAGE_SIZE;
const MAX_RESPONSE_BYTES = 32 * 2 ** 20;

/** True if the text is an OCID of the kind, such as `image`, or of any kind if none is given. */
export function isOcid(text: unknown, kind?: string): text is string {
  const [, found] = typeof text === 'string' ? (OCID.exec(text) ?? []) : [];
  return found !== undefined && (kind === undefined || found === kind);
}

/** Validates the credentials. Throws a {@link ComputeDriverError} that names the first invalid key. */
export function ociKeys(credentials: Readonly<Record<string, string>>): OciKeys {
  const ocid = (name: string, kinds: readonly string[]): string => {
    const value = (credentials[name] ?? '').trim();
    if (kinds.some((kind) => isOcid(value, kind))) return value;
    throw unusableCredentials(`${name} is not the OCID of a ${kinds[0]}`);
  };
  const fingerprint = (credentials['OCI_FINGERPRINT'] ?? '').trim();
  if (!/^[0-9a-f]{2}(:[0-9a-f]{2}){15}$/i.test(fingerprint))
    throw unusableCredentials('OCI_FINGERPRINT is not a fingerprint of 16 hexadecimal bytes separated by colons');
  return {
    tenancy: ocid('OCI_TENANCY_OCID', ['tenancy']),
    user: ocid('OCI_USER_OCID', ['user']),
    fingerprint,
    privateKey: rsaKey(credentials['OCI_PRIVATE_KEY'] ?? ''),
    // The root compartment has the id of the tenancy.
    compartment: ocid('OCI_COMPARTMENT_OCID', ['compartment', 'tenancy']),
  };
}

/** Converts the key to PKCS #1, the only form with which the SDK signs. */
function rsaKey(pem: string): string {
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType === 'rsa') return key.export({ format: 'pem', type: 'pkcs1' }).toString();
  } catch {
    // The parser's words could quote the key.
  }
  throw unusableCredentials('OCI_PRIVATE_KEY is not an RSA key without a passphrase');
}

function unusableCredentials(what: string): ComputeDriverError {
  return new ComputeDriverError('CredentialsUnusable', `The credentials cannot be used: ${what}.`, { kind: 'denied' });
}

/**
 * Calls the services of one region as one user. Oracle's SDK signs requests and parses responses, but the requests are sent
 * here: through the outbound policy, without retries, until the signal aborts, and with a limited response.
 */
export class OciConnection {
  readonly compartment: string;
  private readonly signer: DefaultRequestSigner;
  private readonly secrets: readonly string[];

  constructor(private readonly options: OciConnectionOptions) {
    const { keys, region, secrets = [] } = options;
    if (!REGION.test(region))
      throw new ComputeDriverError('RegionUnknown', 'The region is not one of Oracle Cloud.', { kind: 'invalid' });
    const { tenancy, user, fingerprint, privateKey } = keys;
    this.compartment = keys.compartment;
    this.signer = new DefaultRequestSigner(
      new SimpleAuthenticationDetailsProvider(tenancy, user, fingerprint, privateKey, null),
    );
    this.secrets = [privateKey, ...secrets];
  }

  compute<T>(call: (client: ComputeClient) => Promise<T>): Promise<T> {
    return this.callWith(ComputeClient, call);
  }

  disks<T>(call: (client: BlockstorageClient) => Promise<T>): Promise<T> {
    return this.callWith(BlockstorageClient, call);
  }

  network<T>(call: (client: VirtualNetworkClient) => Promise<T>): Promise<T> {
    return this.callWith(VirtualNetworkClient, call);
  }

  /** Lists the region's availability domains. Their names have a different prefix in each tenancy. */
  async availabilityDomains(): Promise<string[]> {
    const { region, endpoint, keys } = this.options;
    const base = endpoint === null ? endpointOf('identity', region) : identityBeside(endpoint);
    const domains = await this.listFirstPage(`${base}/${VERSION}/availabilityDomains`, { compartmentId: keys.tenancy });
    return domains.map(({ name }) => textOf(name) ?? '').filter((name) => name !== '');
  }

  /**
   * Returns the reason why a launch failed after it was accepted, which only its work request has. Returns null if the launch
   * did not fail, or if the user may not read work requests.
   */
  async launchFault(instanceId: string): Promise<ComputeDriverError | null> {
    const { region, endpoint, keys } = this.options;
    const base = `${endpoint?.replace(/\/+$/, '') ?? endpointOf('iaas', region)}/${VERSION}/workRequests`;
    try {
      const requests = await this.listFirstPage(base, { compartmentId: keys.compartment, resourceId: instanceId });
      const failed = requests.find(
        ({ operationType, status }) => /^Launch/i.test(textOf(operationType) ?? '') && status === 'FAILED',
      );
      if (!isOcid(failed?.['id'])) return null;
      const [first] = await this.listFirstPage(`${base}/${encodeURIComponent(failed['id'])}/errors`, {});
      const { code, message } = first ?? {};
      // The failure is treated like a status 500, whose message decides what it means.
      return ociFault(
        { status: 500, code: textOf(code), message: textOf(message) ?? '', retryAfterMs: null },
        this.secrets,
      );
    } catch (error) {
      if (error instanceof ComputeDriverError && error.kind === 'denied') return null;
      throw error;
    }
  }

  /** Returns the first page of a list of a service whose SDK client is not installed. */
  private async listFirstPage(
    uri: string,
    query: Readonly<Record<string, string>>,
  ): Promise<Record<string, unknown>[]> {
    const parameters = new URLSearchParams(query).toString();
    const transport = this.transport();
    const response = await transport.send({
      method: 'GET',
      headers: new Headers(),
      uri: parameters === '' ? uri : `${uri}?${parameters}`,
    });
    try {
      const items = parseUntrusted(await response.text(), LONG_JSON);
      if (!Array.isArray(items)) throw new Error('The response is not a list');
      return items.filter((one): one is Record<string, unknown> => typeof one === 'object' && one !== null);
    } catch (error) {
      throw unexpectedResponse(new URL(uri).host, 'sent a response that is not from Oracle Cloud', error);
    }
  }

  /** Returns the items of all pages of a list. */
  listAll<T extends { id: string }>(page: PageOf<T>): Promise<T[]> {
    return this.readAll(page, (item) => item);
  }

  /** Reads each item of a list and leaves out those for which `read` returns null. */
  readAll<T extends { id: string }, R>(page: PageOf<T>, read: (item: T) => R | null): Promise<R[]> {
    const problem = `lists more than ${MAX_FOUND} resources, or never ends the list`;
    return readPages(
      { pages: MAX_PAGES, items: MAX_FOUND, exceeded: () => this.unexpected(problem) },
      async (token) => {
        const response = await page({
          limit: PAGE_SIZE,
          ...(token === undefined ? {} : { page: encodeURIComponent(token) }),
        });
        // The SDK does not validate the response.
        if (!Array.isArray(response.items)) throw this.unexpected('returned something else than a list');
        if (!response.items.every(({ id }) => textOf(id) !== null))
          throw this.unexpected('listed a resource without an id');
        const { items, opcNextPage: next } = response;
        if (next && next === token) throw this.unexpected('returned the same page of a list again');
        return { items, next };
      },
      read,
    );
  }

  private unexpected(what: string): ComputeDriverError {
    return unexpectedResponse('Oracle Cloud', what);
  }

  private transport(): Transport {
    const { agents, signal } = this.options;
    return new Transport(this.signer, agents, signal, this.secrets);
  }

  /** Creates a client for each call, because a client does not report which of its requests failed. */
  private async callWith<C extends { endpoint: string; regionId: string }, T>(
    Client: new (...params: ConstructorParameters<typeof ComputeClient>) => C,
    call: (client: C) => Promise<T>,
  ): Promise<T> {
    const { region, endpoint } = this.options;
    const transport = this.transport();
    const client = new Client(
      { httpClient: transport },
      {
        // The SDK calls this after every failure, before it writes to the console. It is the only place to end the call.
        retryConfiguration: {
          ...NoRetryConfigurationDetails,
          retryCondition: () => true,
          terminationStrategy: { shouldTerminate: () => transport.rethrow() },
        },
      },
    );
    if (endpoint === null) client.regionId = region;
    else client.endpoint = endpoint.replace(/\/+$/, '');
    try {
      return await call(client);
    } catch (error) {
      if (error instanceof ComputeDriverError) throw error;
      throw unexpectedResponse(transport.host, 'sent a response that is not from Oracle Cloud', error);
    }
  }
}

/** Sends the SDK's requests without retries. */
class Transport implements HttpClient {
  /** Host of the last request. */
  host = 'Oracle Cloud';
  private failure: ComputeDriverError | null = null;

  constructor(
    private readonly signer: DefaultRequestSigner,
    private readonly agents: OutboundAgents,
    private readonly signal: AbortSignal,
    private readonly secrets: readonly string[],
  ) {}

  async send({ method, headers, uri, body }: HttpRequest): Promise<Response> {
    const url = new URL(uri);
    this.host = url.host;
    // The signature covers the exact URL that is sent.
    await this.signer.signHttpRequest({ method, headers, uri: url.href, body: textOf(body) ?? undefined });
    const { agents, signal } = this;
    const request = { method, headers: Object.fromEntries(headers), body: textOf(body), agents, signal };
    const response = await sendOutbound(url, { ...request, maxBytes: MAX_RESPONSE_BYTES }).catch((error: unknown) => {
      throw this.remember(connectionFault(url.host, error, signal));
    });
    const { status } = response;
    if (status < 200 || status > 299) throw this.remember(ociFault(refusalIn(response), this.secrets));
    return new Response(status === 204 || status === 205 ? null : response.body.toString(), {
      status,
      headers: textHeaders(response),
    });
  }

  /** Throws the error of the last request. */
  rethrow(): never {
    throw this.failure ?? unexpectedResponse('Oracle Cloud', 'could not be called');
  }

  private remember(fault: ComputeDriverError): ComputeDriverError {
    this.failure = fault;
    return fault;
  }
}

function refusalIn({ status, headers, body }: OutboundResponse) {
  const said = errorIn(body.toString());
  return {
    status,
    code: textOf(said.code),
    message: textOf(said.message) ?? '',
    retryAfterMs: retryAfterMs(headers['retry-after'] ?? headers['opc-retry-after']),
  };
}

/** Reads code and message of an error. A gateway's HTML page has neither. */
function errorIn(body: string): { code?: unknown; message?: unknown } {
  return Object(readUntrusted(body, SHORT_JSON)) as { code?: unknown; message?: unknown };
}

function textHeaders({ headers }: OutboundResponse): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter((entry): entry is [string, string] => textOf(entry[1]) !== null),
  );
}

/** Returns a value of an unvalidated response if it is a string. */
export function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function endpointOf(service: keyof typeof TEMPLATES, region: string): string {
  return EndpointBuilder.createEndpointFromRegionId(TEMPLATES[service], region, service);
}

/** Returns the identity endpoint that belongs to a compute endpoint. Other Oracle clouds use the same host names. */
function identityBeside(endpoint: string): string {
  return endpoint.replace(/^(https?:\/\/)iaas\./, '$1identity.').replace(/\/+$/, '');
}
