import { createHash } from 'node:crypto';
import { ComputeManagementClient, type ComputeManagementClientOptionalParams } from '@azure/arm-compute';
import { NetworkManagementClient } from '@azure/arm-network';
import { ClientSecretCredential } from '@azure/identity';
import { AddressRefusedError, type OutboundAgents, type OutboundPolicy } from '../../outbound-policy/outbound-policy';
import { type DriverContext, ComputeDriverError } from '../compute-driver';
import { untilAborted } from '../machines/calls';
import { azureFault, invalidRequest } from './azure-faults';
import { AZURE_AUTHORITY, AZURE_ENDPOINT } from './azure-requests';

/** Whom a token is for, in the clouds that are not Azure's public one. */
const AUDIENCES: Readonly<Record<string, string>> = {
  'management.usgovcloudapi.net': 'https://management.usgovcloudapi.net',
  'management.chinacloudapi.cn': 'https://management.chinacloudapi.cn',
};

/** Azure's pages hold some hundreds of records. */
const MAX_RESPONSE_BYTES = 64 * 2 ** 20;
/** Each has tokens for its principal. */
const MAX_SESSIONS = 200;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Id or domain of a directory. It becomes a part of a path. */
const DIRECTORY = /^[A-Za-z0-9][A-Za-z0-9.-]{0,254}$/;
/** Answers name other addresses where the end of an operation can be watched, which no driver waits for. */
const POLLING_HEADERS = ['azure-asyncoperation', 'location', 'operation-location'];

type PolicyConfig = NonNullable<ComputeManagementClientOptionalParams['additionalPolicies']>[number];

/** Passed to each call of an SDK. */
export interface CallOptions {
  abortSignal: AbortSignal;
}

export interface AzureEndpoints {
  /** Null for Azure's public cloud. */
  endpoint: string | null;
  /** Where principals log in; null for Azure's public cloud. */
  authority: string | null;
  /** PEM of an authority to trust besides the usual ones. */
  ca?: string;
}

/** What one principal may do in one subscription. */
export class AzureSession {
  constructor(
    readonly subscription: string,
    readonly compute: ComputeManagementClient,
    readonly network: NetworkManagementClient,
    private readonly server: string,
    readonly secrets: readonly string[],
  ) {}

  /** The same, whose errors repeat these no more than the principal's own secret. */
  withSecrets(secrets: readonly string[]): AzureSession {
    const { subscription, compute, network, server } = this;
    return new AzureSession(subscription, compute, network, server, [...this.secrets, ...secrets]);
  }

  /** Makes one call, until the signal ends it: the SDKs look at theirs between requests only. Throws `ComputeDriverError`. */
  async call<T>(
    { signal: callers }: Pick<DriverContext, 'signal'>,
    send: (options: CallOptions) => Promise<T>,
  ): Promise<T> {
    // One for each call: an SDK adds listeners to it, and a caller makes many calls by one signal.
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

  /** The same for what may not exist; null for that. */
  async find<T>(context: Pick<DriverContext, 'signal'>, send: (options: CallOptions) => Promise<T>): Promise<T | null> {
    try {
      return await this.call(context, send);
    } catch (error) {
      if (error instanceof ComputeDriverError && ABSENT.has(error.code)) return null;
      throw error;
    }
  }
}

/** A subscription that is not found says something else: nobody can tell what it holds. */
const ABSENT: ReadonlySet<string> = new Set([
  'AZURE.ResourceNotFound',
  'AZURE.NotFound',
  'AZURE.ResourceGroupNotFound',
]);

/** Sessions of the principals that were used last, so that not each call logs in. */
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
    if (!DIRECTORY.test(tenant)) throw denied('TENANT_ID is not the id of a directory.');
    if (!UUID.test(client)) throw denied('CLIENT_ID is not the id of an application.');
    if (secret === '') throw denied('CLIENT_SECRET is missing.');
    if (!UUID.test(subscription)) throw denied('SUBSCRIPTION_ID is not the id of a subscription.');
    const once = { retryOptions: { maxRetries: 0 }, redirectOptions: { maxRetries: 0 } };
    // The login's own error says nothing of a connection that failed.
    let failure: unknown = null;
    const noteFailure = (error: unknown) => (failure = error);
    const principal = new ClientSecretCredential(tenant, client, secret, {
      ...once,
      authorityHost: this.authority.origin,
      // It would be asked of Azure's public cloud, whatever the authority.
      disableInstanceDiscovery: true,
      additionalPolicies: [guard(this.authority, this.agents, noteFailure)],
    });
    const credential: Pick<ClientSecretCredential, 'getToken'> = {
      getToken: async (...wanted) => {
        failure = null;
        try {
          return await principal.getToken(...wanted);
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

/** Keeps requests, whose header has a token, at the server they are for, and their answers from filling the memory. */
function guard(server: URL, agents: OutboundAgents, noteFailure?: (error: unknown) => void): PolicyConfig {
  return {
    position: 'perCall',
    policy: {
      name: 'platformGuard',
      async sendRequest(request, next) {
        if (URL.parse(request.url)?.origin !== server.origin)
          throw new ComputeDriverError('AZURE.ELSEWHERE', `${server.host} refers to another server.`, {
            kind: 'invalid',
          });
        request.agent = agents.https;
        request.onDownloadProgress = ({ loadedBytes }) => {
          if (loadedBytes > MAX_RESPONSE_BYTES) throw new Error('The answer is too long');
        };
        const response = await next(request).catch((error: unknown) => {
          noteFailure?.(error);
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
  throw invalidRequest(`Azure is called by HTTPS only, not at ${text}.`);
}
