import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { HostResources } from '../../../../../libs/compute-drivers/host-resources';
import { OutboundPolicy } from '../../../../../libs/outbound-policy/outbound-policy';
import { Config } from '../../../../config/config';
import { isTenantAdmin, type Principal, type TenantScope } from '../../../../platform/kernel/auth/principal';
import { invalid } from '../../../../platform/kernel/errors/domain-error';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { known } from '../../../../platform/http/resources/known';
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

const BYTES_OF_GB = 2 ** 30;

/** What the machines behind an OnPrem endpoint have and use. */
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

  /** Asks the hypervisor, or the workers about their own machines, with no transaction open meanwhile. */
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

  /** 400 unless environments may have this endpoint: local nodes are where a worker reports its machine. */
  async assertEndpoint(tx: Tx, endpoint: string): Promise<void> {
    const isLocal = endpoint === LOCAL_ENDPOINT;
    const hasLocal = isLocal && (this.config.compute.local !== null || (await this.localHosts.haveReported(tx)));
    assertEndpoint(endpoint, hasLocal, this.outbound);
  }

  /** 400 if the nodes of a cluster at this endpoint would be local ones, and no machine of theirs has its Spark. */
  async assertSpark(tx: Tx, endpoint: string | null, version: string): Promise<void> {
    if (endpoint !== LOCAL_ENDPOINT) return;
    const versions = await this.localHosts.sparkVersions(tx);
    if (versions === null || versions.includes(version)) return;
    throw invalid(
      'CLUSTER.SPARK_NOT_INSTALLED',
      `Local nodes of this installation do not have Spark ${version}. Available: ${versions.join(', ') || 'none'}.`,
      { available: versions },
    );
  }

  /**
   * Whether the tenant may have local nodes: any tenant if they isolate jobs, else only the first. While no worker
   * reports, the start itself finds out.
   */
  async localServes(tx: Tx, tenantId: string): Promise<boolean> {
    return !(await this.localHosts.keepNobodyApart(tx)) || (await this.tenants.isFirst(tx, tenantId));
  }

  /**
   * The call hands the password to whoever is at the endpoint. Credentials are write-only: only administrators, who can
   * create an environment with any endpoint, may have them sent where no environment sends them.
   */
  private async assertInUse(scope: TenantScope, endpoint: string, confId: number, name: string): Promise<void> {
    const { origin } = new URL(endpoint);
    const inUse = await this.cloudEnvs.endpointsWith(scope, confId);
    if (inUse.some((used) => URL.canParse(used) && new URL(used).origin === origin)) return;
    throw invalid(
      'ONPREM.ENDPOINT_NOT_IN_USE',
      `No cloud environment uses the credentials "${name}" at ${origin}; only an administrator may send them there.`,
    );
  }

  private onPrem() {
    return known(
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
  return twoDigits(bytes / BYTES_OF_GB);
}

function twoDigits(value: number): number {
  return Math.round(value * 100) / 100;
}
