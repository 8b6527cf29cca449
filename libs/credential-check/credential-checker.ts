import { withDeadline } from '../object-storage/store-deadline';
import { ObjectStoreError } from '../object-storage/object-store';
import { ProxmoxConnections, type ProxmoxTrust } from '../compute-drivers/proxmox/proxmox-connections';
import { AZURE_AUTHORITY, AZURE_ENDPOINT } from '../compute-drivers/azure/azure-requests';
import type { OutboundPolicy } from '../outbound-policy/outbound-policy';
import { checkAzurePrincipal } from './azure-check';
import type * as AwsModule from './aws-check';
import type * as OciModule from './oci-check';
import type * as S3Module from './s3-check';
import {
  type CheckContext,
  CheckUnsupportedError,
  type CredentialCheck,
  ProviderUnreachableError,
} from './credential-check';
import { checkGoogleAccount, GOOGLE_PROJECTS_ENDPOINT, GOOGLE_TOKEN_ENDPOINT } from './google-check';
import { checkProxmoxAccount } from './proxmox-check';

/* eslint-disable @typescript-eslint/no-require-imports -- An SDK is loaded at the first check that needs it, because
   loading takes long and most processes never check. */
const aws = () => require('./aws-check') as typeof AwsModule;
const s3 = () => require('./s3-check') as typeof S3Module;
const oci = () => require('./oci-check') as typeof OciModule;
/* eslint-enable @typescript-eslint/no-require-imports */

export type CredentialProvider = 'aws' | 'gcp' | 'azure' | 's3-compatible' | 'oci' | 'proxmox';

export interface CheckRequest {
  provider: CredentialProvider;
  /** Keys of the credentials by the names of their type, such as `AWS_ACCESS_KEY_ID`. */
  credentials: Readonly<Record<string, string>>;
  /** URL of the hypervisor; only for `proxmox`, whose credentials do not have it. */
  endpoint?: string;
  /** Region to call; only for `oci`, whose credentials do not have it. */
  region?: string;
  /** Resource group of the nodes; only for `azure`. */
  cloudProject?: string;
}

/** Endpoints of the public clouds, which tests replace. */
export interface CloudEndpoints {
  /** Null for the endpoint of the region. */
  awsSts: string | null;
  awsEc2: string | null;
  googleToken: string;
  googleProjects: string;
  azureAuthority: string;
  azureManagement: string;
  /** Null for the endpoints of the region. */
  oci: string | null;
}

const CLOUDS: CloudEndpoints = {
  awsSts: null,
  awsEc2: null,
  googleToken: GOOGLE_TOKEN_ENDPOINT,
  googleProjects: GOOGLE_PROJECTS_ENDPOINT,
  azureAuthority: AZURE_AUTHORITY,
  azureManagement: AZURE_ENDPOINT,
  oci: null,
};

const DEADLINE_MS = 15_000;

/** Checks credentials at their provider, with calls that change nothing and, if possible, need no permission. */
export class CredentialChecker {
  private readonly clouds: CloudEndpoints;
  private readonly deadlineMs: number;
  private readonly hypervisors: ProxmoxConnections;

  /** @param options.deadlineMs timeout of a whole check; `onPremTrust` decides which certificates of hypervisors are trusted */
  constructor(
    private readonly outbound: OutboundPolicy,
    options: { clouds?: Partial<CloudEndpoints>; deadlineMs?: number; onPremTrust?: ProxmoxTrust } = {},
  ) {
    this.clouds = { ...CLOUDS, ...options.clouds };
    this.hypervisors = new ProxmoxConnections(outbound, options.onPremTrust ?? { ca: null, unverifiedHosts: [] });
    this.deadlineMs = options.deadlineMs ?? DEADLINE_MS;
  }

  /**
   * Throws {@link ProviderUnreachableError} without a usable response, {@link CheckUnsupportedError} if a check is impossible,
   * and `AddressRefusedError` for an endpoint that the outbound policy does not allow.
   */
  async check(request: CheckRequest): Promise<CredentialCheck> {
    try {
      return await withDeadline(this.deadlineMs, undefined, (signal) =>
        this.checkProvider(request, { agents: this.outbound.agents, signal }),
      );
    } catch (error) {
      if (!(error instanceof ObjectStoreError)) throw error;
      const reason = `did not respond within ${this.deadlineMs / 1000} seconds`;
      throw new ProviderUnreachableError(serverOf(request), reason, { cause: error });
    }
  }

  private async checkProvider(
    { provider, credentials, endpoint, region, cloudProject }: CheckRequest,
    context: CheckContext,
  ): Promise<CredentialCheck> {
    const key = (name: string) => credentials[name] ?? '';
    const awsKeys = { accessKeyId: key('AWS_ACCESS_KEY_ID'), secretAccessKey: key('AWS_SECRET_ACCESS_KEY') };
    switch (provider) {
      case 'aws': {
        const { checkAwsKeys } = aws();
        const { awsSts: sts, awsEc2: ec2 } = this.clouds;
        return checkAwsKeys({ ...awsKeys, region: key('AWS_DEFAULT_REGION') }, { sts, ec2 }, context);
      }
      case 'gcp': {
        const [clientEmail, privateKey] = [key('CLIENT_EMAIL'), key('PRIVATE_KEY')];
        const [privateKeyId, projectId] = [key('PRIVATE_KEY_ID'), key('PROJECT_ID')];
        const { googleToken: token, googleProjects: projects } = this.clouds;
        return checkGoogleAccount({ clientEmail, privateKey, privateKeyId, projectId }, { token, projects }, context);
      }
      case 'azure': {
        const principal = { tenantId: key('TENANT_ID'), clientId: key('CLIENT_ID') };
        const keys = { ...principal, clientSecret: key('CLIENT_SECRET'), subscriptionId: key('SUBSCRIPTION_ID') };
        const { azureAuthority: authority, azureManagement: management } = this.clouds;
        return checkAzurePrincipal(keys, { authority, management }, context, cloudProject);
      }
      case 's3-compatible': {
        const { checkS3Keys } = s3();
        return checkS3Keys(awsKeys, this.outbound.assertUrl(key('S3_ENDPOINT')), context);
      }
      case 'oci': {
        if (region === undefined)
          throw new CheckUnsupportedError(
            'Oracle Cloud knows a key only in the regions of its tenancy, and these credentials name none. Send region.',
          );
        const { checkOciKey } = oci();
        return checkOciKey(credentials, region, this.clouds.oci, context);
      }
      case 'proxmox':
        return checkProxmoxAccount(
          { endpoint: endpoint ?? '', username: key('USERNAME'), password: key('PASSWORD') },
          this.hypervisors,
          context.signal,
        );
    }
  }
}

/** Returns the name of the server for errors: the name of a cloud, or a host. */
function serverOf({ provider, credentials, endpoint }: CheckRequest): string {
  switch (provider) {
    case 'aws':
      return `AWS STS in the region ${credentials['AWS_DEFAULT_REGION']}`;
    case 'gcp':
      return 'Google';
    case 'azure':
      return 'Azure';
    case 'oci':
      return 'Oracle Cloud';
    case 's3-compatible':
    case 'proxmox':
      return new URL(endpoint ?? credentials['S3_ENDPOINT'] ?? '').host;
  }
}
