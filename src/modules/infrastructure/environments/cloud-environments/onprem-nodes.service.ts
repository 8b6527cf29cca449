import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { HostResources } from '../../../../../libs/compute-drivers/host-resources';
import { OutboundPolicy } from '../../../../../libs/outbound-policy/outbound-policy';
import { Config } from '../../../../config/config';
import { isTenantAdmin, type Principal, type TenantScope } from '../../../../platform/kernel/auth/principal';
import { invalid } from '../../../../platform/kernel/errors/domain-error';
import type { Db, Tx } from '../../../../platform/kernel/persistence/sql';
import { requireRecord } from '../../../../platform/http/resources/require-record';
import { CredentialsConfsService } from '../credentials/credentials-confs.service';
import { ActiveTenantsService } from '../../../foundation/iam';
import { CLOUD_PROVIDER_ID, ReferenceData } from '../../../foundation/reference-data';
import { assertEndpoint } from './cloud-env-keys';
import { assertCredentialType } from './cloud-env-provider';
import { LOCAL_ENDPOINT } from './cloud-envs.joins';
import { CloudEnvsRepository } from './cloud-envs.repository';
import type { OnPremNode, OnPremNodeResources, OnPremNodesQuery } from './dto/onprem-nodes.dto';
import { Hypervisors } from './hypervisors';
import { LocalHostsRepository } from './local-hosts.repository';

const BYTES_PER_GB = 2 ** 30;

@Injectable()
export class OnPremNodesService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly referenceData: ReferenceData,
    private readonly credentialsConfs: CredentialsConfsService,
    private readonly cloudEnvs: CloudEnvsRepository,
    private readonly localHosts: LocalHostsRepository,
    private readonly tenants: ActiveTenantsService,
    private readonly hypervisors: Hypervisors,
    private readonly outbound: OutboundPolicy,
    private readonly config: Config,
  ) {}

  /** Reads the hypervisor or the workers' reports. No transaction is open during the call. */
  async list(principal: Principal, scope: TenantScope, query: OnPremNodesQuery): Promise<OnPremNodeResources> {
    const { endpoint, credential_config_id: credentialsConfId } = query;
    await this.assertEndpoint(this.dataSource.manager, endpoint);
    const credentials = await this.credentialsConfs.get(scope, { id: credentialsConfId });
    const { credentials_conf_name: name, credential_type: type } = credentials;
    assertCredentialType(this.referenceData, this.onPrem(), type.credential_type_id, name);
    if (endpoint === LOCAL_ENDPOINT) return resourcesOf(await this.localHosts.online());
    if (!isTenantAdmin(principal)) await this.assertInUse(scope, endpoint, credentialsConfId, name);
    const { values } = await this.credentialsConfs.reveal(this.dataSource.manager, scope.tenantId, credentialsConfId);
    return resourcesOf(await this.hypervisors.onlineHosts(endpoint, values));
  }

  /** Throws 400 unless environments may use the endpoint. Local nodes need a worker that reports its machine. */
  async assertEndpoint(db: Db, endpoint: string): Promise<void> {
    const isLocal = endpoint === LOCAL_ENDPOINT;
    const hasLocal = isLocal && (this.config.compute.local !== null || (await this.localHosts.hasRecentReport(db)));
    assertEndpoint(endpoint, hasLocal, this.outbound);
  }

  /**
   * Returns false if the tenant must not use local nodes: without isolation only the first tenant may. If no worker
   * reports, it returns true and the start of the cluster checks again.
   */
  async allowsLocalNodes(tx: Tx, tenantId: string): Promise<boolean> {
    return !(await this.localHosts.noneIsolatesTenants(tx)) || (await this.tenants.isFirst(tx, tenantId));
  }

  /**
   * The call sends the password to the endpoint, and credentials are write-only. So only administrators, who can create
   * an environment with any endpoint, may send credentials to an endpoint that no environment uses.
   */
  private async assertInUse(scope: TenantScope, endpoint: string, confId: number, name: string): Promise<void> {
    const { origin } = new URL(endpoint);
    const inUse = await this.cloudEnvs.endpointsWith(scope, confId);
    if (inUse.some((used) => URL.canParse(used) && new URL(used).origin === origin)) return;
    throw invalid(
      'ONPREM.ENDPOINT_NOT_IN_USE',
      `No cloud environment uses the credentials "${name}" with ${origin}. Only an administrator may send them there.`,
    );
  }

  private onPrem() {
    return requireRecord(
      this.referenceData.cloudProvider(CLOUD_PROVIDER_ID.OnPrem),
      'cloud provider',
      CLOUD_PROVIDER_ID.OnPrem,
    );
  }
}

function resourcesOf(hosts: readonly HostResources[]): OnPremNodeResources {
  return { nodes: hosts.map(nodeOf) };
}

function nodeOf(host: HostResources): OnPremNode {
  return {
    node_name: host.name,
    cpu_cores: host.cores,
    cpu_usage_percent: twoDigits(Math.min(host.cpuUsage, 1) * 100),
    ram_total_gb: gb(host.memoryBytes),
    ram_used_gb: gb(host.memoryUsedBytes),
    disk_total_gb: gb(host.diskBytes),
    disk_used_gb: gb(host.diskUsedBytes),
  };
}

function gb(bytes: number): number {
  return twoDigits(bytes / BYTES_PER_GB);
}

function twoDigits(value: number): number {
  return Math.round(value * 100) / 100;
}
