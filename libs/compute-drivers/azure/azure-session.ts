import { createHash } from 'node:crypto';
import { ComputeManagementClient, type ComputeManagementClientOptionalParams } from '@azure/arm-compute';
import { NetworkManagementClient } from '@azure/arm-network';
import { ClientSecretCredential } from '@azure/identity';
import { AddressRefusedError, type OutboundAgents, type OutboundPolicy } from '../../outbound-policy/outbound-policy';
import { type DriverContext, ComputeDriverError } from '../compute-driver';
import { untilAborted } from '../machines/calls';
import { azureFault, invalidRequest } from './azure-faults';
import { AZURE_AUTHORITY, AZURE_ENDPOINT } from './azure-requests';

/** Token audiences of the clouds other than Azure's public one, by host. */
const AUDIENCES: Readonly<Record<string, string>> = {
  'management.usgovcloudapi.net': 'https://management.usgovcloudapi.net',
  'management.chinacloudapi.cn': 'https://management.chinacloudapi.cn',
};

const MAX_RESPONSE_BYTES = 64 * 2 ** 20;
/** Sessions are kept with their tokens. */
const MAX_SESSIONS = 200;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Id or domain of a directory, which becomes a part of a path. */
const DIRECTORY = /^[A-Za-z0-9][A-Za-z0-9.-]{0,254}$/;
/** Headers with the polling URL of an operation. The driver does not poll, so the SDK must not follow them. */
const POLLING_HEADERS = ['azure-asyncoperation', 'location', 'operation-location'];

type PolicyConfig = NonNullable<ComputeManagementClientOptionalParams['additionalPolicies']>[number];

export interface CallOptions {
  abortSignal: AbortSignal;
}

export interface AzureEndpoints {
  /** Null for Azure's public cloud. */
  endpoint: string | null;
  /** Login endpoint; null for Azure's public cloud. */
  authority: string | null;
  /** PEM of a certificate authority to trust besides the system's. */
  ca?: string;
}

/** Clients of one principal in one subscription. */
export class AzureSession {
  constructor(
    readonly subscription: string,
    readonly compute: ComputeManagementClient,
    readonly network: NetworkManagementClient,
    private readonly server: string,
    readonly secrets: readonly string[],
  ) {}

  /** Returns the session with more values that are masked in its errors. */
  withSecrets(secrets: readonly string[]): AzureSession {
    const { subscription, compute, network, server } = this;
    return new AzureSession(subscription, compute, network, server, [...this.secrets, ...secrets]);
  }

  /** Makes one call, which rejects as soon as the signal aborts: the SDKs check it only between requests. Throws `ComputeDriverError`. */
  async call<T>(
    { signal: callers }: Pick<DriverContext, 'signal'>,
    send: (options: CallOptions) => Promise<T>,
  ): Promise<T> {
    // Each call has its own signal, because an SDK adds listeners and a caller makes many calls with one signal.
    const signal = AbortSignal.any([callers]);
    try {
      return await untilAborted(signal, () => send({ abortSignal: signal }));
    } catch (error) {
      if (signal.aborted)
        throw new ComputeDriverError('AZURE.TIMEOUT', `${this.server} did not answer in time.`, {
          kind: 'transient',
          cause: signal.reason,
        });
      throw azureFault(error, { server: this.server, secrets: this.secrets });
    }
  }

  /** Makes one call; returns null if the resource does not exist. */
  async find<T>(context: Pick<DriverContext, 'signal'>, send: (options: CallOptions) => Promise<T>): Promise<T | null> {
    try {
      return await this.call(context, send);
    } catch (error) {
      if (error instanceof ComputeDriverError && ABSENT.has(error.code)) return null;
      throw error;
    }
  }
}

/** Codes of missing resources. `SubscriptionNotFound` is not one of them, because it says nothing about resources. */
const ABSENT: ReadonlySet<string> = new Set([
  'AZURE.ResourceNotFound',
  'AZURE.NotFound',
  'AZURE.ResourceGroupNotFound',
]);

/** Keeps the sessions of recently used principals, so that not every call logs in. */
export class AzureSessions {
  private readonly sessions = new Map<string, AzureSession>();
  private readonly endpoint: URL;
  private readonly authority: URL;
  private readonly agents: OutboundAgents;

  constructor(outbound: OutboundPolicy, { endpoint, authority, ca }: AzureEndpoints) {
    this.endpoint = allowedUrl(outbound, endpoint ?? AZURE_ENDPOINT);
    this.authority = allowedUrl(outbound, authority ?? AZURE_AUTHORITY);
    this.agents = ca === undefined ? outbound.agents : outbound.agentsWith({ keepAlive: true, ca });
  }

  sessionFor({ credentials }: Pick<DriverContext, 'credentials'>): AzureSession {
    const key = (name: string): string => credentials[name] ?? '';
    const keys = ['TENANT_ID', 'CLIENT_ID', 'CLIENT_SECRET', 'SUBSCRIPTION_ID'].map(key);
    const id = createHash('sha256').update(JSON.stringify(keys)).digest('base64');
    const session = this.sessions.get(id) ?? this.open(keys);
    this.sessions.delete(id);
    this.sessions.set(id, session);
    for (const oldest of this.sessions.keys()) {
      if (this.sessions.size <= MAX_SESSIONS) break;
      this.sessions.delete(oldest);
    }
    return session;
  }

  private open([tenant = '', client = '', secret = '', subscription = '']: string[]): AzureSession {
    if (!DIRECTORY.test(tenant)) throw denied('TENANT_ID is not the id or domain of a directory.');
    if (!UUID.test(client)) throw denied('CLIENT_ID is not the id of an application (a UUID).');
    if (secret === '') throw denied('CLIENT_SECRET is required.');
    if (!UUID.test(subscription)) throw denied('SUBSCRIPTION_ID is not the id of a subscription (a UUID).');
    const once = { retryOptions: { maxRetries: 0 }, redirectOptions: { maxRetries: 0 } };
    // The SDK's login error does not name a failed connection.
    let failure: unknown = null;
    const recordFailure = (error: unknown) => (failure = error);
    const principal = new ClientSecretCredential(tenant, client, secret, {
      ...once,
      authorityHost: this.authority.origin,
      // Discovery would always call Azure's public cloud.
      disableInstanceDiscovery: true,
      additionalPolicies: [guard(this.authority, this.agents, recordFailure)],
    });
    const credential: Pick<ClientSecretCredential, 'getToken'> = {
      getToken: async (...parameters) => {
        failure = null;
        try {
          return await principal.getToken(...parameters);
        } catch (error) {
          throw failure ?? error;
        }
      },
    };
    const scope = `${AUDIENCES[this.endpoint.hostname] ?? AZURE_ENDPOINT}/.default`;
    const options = { ...once, additionalPolicies: [guard(this.endpoint, this.agents)] };
    const { origin } = this.endpoint;
    const compute = new ComputeManagementClient(credential, subscription, {
      ...options,
      endpoint: origin,
      credentials: { scopes: [scope] },
    });
    const network = new NetworkManagementClient(credential, subscription, {
      ...options,
      endpoint: origin,
      credentialScopes: scope,
    });
    return new AzureSession(subscription, compute, network, this.endpoint.host, [secret]);
  }
}

/** Refuses requests to other servers, because their header has a token, and limits the size of responses. */
function guard(server: URL, agents: OutboundAgents, recordFailure?: (error: unknown) => void): PolicyConfig {
  return {
    position: 'perCall',
    policy: {
      name: 'platformGuard',
      async sendRequest(request, next) {
        if (URL.parse(request.url)?.origin !== server.origin)
          throw new ComputeDriverError(
            'AZURE.ELSEWHERE',
            `${server.host} refers to another server, which is not called.`,
            {
              kind: 'invalid',
            },
          );
        request.agent = agents.https;
        request.onDownloadProgress = ({ loadedBytes }) => {
          if (loadedBytes > MAX_RESPONSE_BYTES) throw new Error('The response is too long');
        };
        const response = await next(request).catch((error: unknown) => {
          recordFailure?.(error);
          throw error;
        });
        if (request.method !== 'GET') for (const name of POLLING_HEADERS) response.headers.delete(name);
        return response;
      },
    },
  };
}

function denied(message: string): ComputeDriverError {
  return new ComputeDriverError('AZURE.CREDENTIALS', message, { kind: 'denied' });
}

function allowedUrl(outbound: OutboundPolicy, text: string): URL {
  try {
    const url = outbound.assertUrl(text);
    if (url.protocol === 'https:') return url;
  } catch (error) {
    if (!(error instanceof AddressRefusedError)) throw error;
    throw invalidRequest(error.message);
  }
  throw invalidRequest(`The Azure endpoint ${text} must use HTTPS.`);
}
