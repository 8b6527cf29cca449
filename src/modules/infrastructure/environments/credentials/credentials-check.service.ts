import { Injectable } from '@nestjs/common';
import {
  CheckUnsupportedError,
  type CredentialCheck,
  ProviderUnreachableError,
} from '../../../../../libs/credential-check/credential-check';
import {
  type CheckRequest,
  CredentialChecker,
  type CredentialProvider,
} from '../../../../../libs/credential-check/credential-checker';
import { AddressRefusedError, OutboundPolicy } from '../../../../../libs/outbound-policy/outbound-policy';
import { Config } from '../../../../config/config';
import type { TenantScope } from '../../../../platform/kernel/auth/principal';
import { DomainError, invalid } from '../../../../platform/kernel/errors/domain-error';
import type { RecordSelector } from '../../../../platform/kernel/dto/selector';
import { Transactions } from '../../../../platform/kernel/persistence/transactions';
import { CREDENTIAL_TYPE_ID } from '../../../foundation/reference-data';
import { ENDPOINT_REFUSED } from './credential-content';
import { CredentialsConfsRepository } from './credentials-confs.repository';
import { CredentialsConfsService } from './credentials-confs.service';
import type { CredentialsCheckResult } from './dto/credentials-conf.dto';

const PROVIDERS: Readonly<Record<number, CredentialProvider>> = {
  [CREDENTIAL_TYPE_ID.googleServiceAccount]: 'gcp',
  [CREDENTIAL_TYPE_ID.awsAccessSecretKeyPair]: 'aws',
  [CREDENTIAL_TYPE_ID.azureServicePrincipal]: 'azure',
  [CREDENTIAL_TYPE_ID.onPremBasicAuth]: 'proxmox',
  [CREDENTIAL_TYPE_ID.ociApiKey]: 'oci',
  [CREDENTIAL_TYPE_ID.customS3]: 's3-compatible',
};

/** Checks stored credentials by calls to their providers. */
@Injectable()
export class CredentialsCheckService {
  private readonly checker: CredentialChecker;

  constructor(
    private readonly transactions: Transactions,
    private readonly repository: CredentialsConfsRepository,
    private readonly credentialsConfs: CredentialsConfsService,
    outbound: OutboundPolicy,
    { compute }: Config,
  ) {
    const { ec2: awsEc2, oci, azure, azureAuthority } = compute.clouds;
    const clouds = { awsEc2, oci, ...(azure && { azureManagement: azure }), ...(azureAuthority && { azureAuthority }) };
    this.checker = new CredentialChecker(outbound, { clouds, onPremTrust: compute.onPremTrust });
  }

  /**
   * @param target `endpoint` of a hypervisor for OnPrem basic auth only; `region` for OCI API keys only;
   * `cloudProject`, a resource group, for Azure service principals only
   */
  async check(scope: TenantScope, selector: RecordSelector, target: CheckTarget): Promise<CredentialsCheckResult> {
    const { provider, values } = await this.reveal(scope, selector, target);
    const { working, checkedAs, reason } = await translated(() =>
      this.checker.check({ provider, credentials: values, ...target }),
    );
    return { working, checked_as: checkedAs, reason };
  }

  /** Decrypts the values. The transaction ends before the provider is called. */
  private reveal(
    scope: TenantScope,
    selector: RecordSelector,
    target: CheckTarget,
  ): Promise<{ provider: CredentialProvider; values: Record<string, string> }> {
    return this.transactions.read(async (tx) => {
      const { credentials_conf_id: id, credential_type_id: typeId } = await this.repository.get(scope, selector, tx);
      const provider = PROVIDERS[typeId];
      if (!provider) {
        throw invalid('CREDENTIALS_CONF.CHECK_UNSUPPORTED', `Credential type ${typeId} cannot be checked.`);
      }
      assertTarget(provider, target);
      const { values } = await this.credentialsConfs.reveal(tx, scope.tenantId, id);
      return { provider, values };
    });
  }
}

type CheckTarget = Pick<CheckRequest, 'endpoint' | 'region' | 'cloudProject'>;

function assertTarget(provider: CredentialProvider, { endpoint, region, cloudProject }: CheckTarget): void {
  if (provider === 'proxmox' && endpoint === undefined) {
    throw invalid(
      'CREDENTIALS_CONF.ENDPOINT_REQUIRED',
      'endpoint is required to check OnPrem basic auth: the address of the hypervisor.',
    );
  }
  if (provider !== 'proxmox' && endpoint !== undefined) {
    throw invalid('CREDENTIALS_CONF.ENDPOINT_UNEXPECTED', 'endpoint is only valid for OnPrem basic auth.');
  }
  if (provider !== 'oci' && region !== undefined) {
    throw invalid('CREDENTIALS_CONF.REGION_UNEXPECTED', 'region is only valid for OCI API keys.');
  }
  if (provider !== 'azure' && cloudProject !== undefined) {
    throw invalid(
      'CREDENTIALS_CONF.CLOUD_PROJECT_UNEXPECTED',
      'cloud_project is only valid for Azure service principals.',
    );
  }
}

async function translated(check: () => Promise<CredentialCheck>): Promise<CredentialCheck> {
  try {
    return await check();
  } catch (error) {
    if (error instanceof AddressRefusedError) throw invalid(ENDPOINT_REFUSED, error.message);
    if (error instanceof CheckUnsupportedError) throw invalid('CREDENTIALS_CONF.CHECK_UNSUPPORTED', error.message);
    if (!(error instanceof ProviderUnreachableError)) throw error;
    throw new DomainError(
      'upstream',
      'CREDENTIALS_CONF.PROVIDER_UNREACHABLE',
      `${error.message}. The credentials could not be checked; try again later.`,
      { server: error.server },
      { cause: error },
    );
  }
}
