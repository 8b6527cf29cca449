import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Config } from '../../../../config/config';
import type { TenantScope } from '../../../../platform/kernel/auth/principal';
import { type DomainError, invalid } from '../../../../platform/kernel/errors/domain-error';
import type { Db, Tx } from '../../../../platform/kernel/persistence/sql';
import { LOCAL_ENDPOINT } from './cloud-envs.joins';
import { CloudEnvsService } from './cloud-envs.service';
import { LocalHostsRepository } from './local-hosts.repository';

/** Knows with which versions of Spark clusters of an environment can start. */
@Injectable()
export class EnvironmentSparksService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly config: Config,
    private readonly cloudEnvs: CloudEnvsService,
    private readonly localHosts: LocalHostsRepository,
  ) {}

  /** Returns the versions of the tenant's environment; null if they are unknown, as with machines that boot from images. */
  async versionsOf(scope: TenantScope, cloudEnvId: number): Promise<string[] | null> {
    const { endpoint } = await this.cloudEnvs.get(scope, { id: cloudEnvId });
    return this.versions(this.dataSource.manager, endpoint);
  }

  /** Throws 400 if nodes of the environment cannot have the Spark version. */
  async assertSpark(tx: Tx, endpoint: string | null, version: string): Promise<void> {
    const refusal = (await this.refusals(tx, endpoint, [version])).get(version);
    if (refusal) throw refusal;
  }

  /** Returns why nodes of the environment cannot have some of the Spark versions. */
  async refusals(tx: Tx, endpoint: string | null, wanted: readonly string[]): Promise<Map<string, DomainError>> {
    const available = await this.versions(tx, endpoint);
    const missing = available === null ? [] : wanted.filter((version) => !available.includes(version));
    return new Map(missing.map((version) => [version, notInstalled(endpoint, version, available ?? [])]));
  }

  private async versions(db: Db, endpoint: string | null): Promise<string[] | null> {
    if (endpoint === LOCAL_ENDPOINT) return this.localHosts.sparkVersions(db);
    const sparks = this.config.compute.boot.items.filter(({ name }) => name === 'spark');
    // A Spark without a version serves every cluster.
    const versions = sparks.map(({ sparkVersion }) => sparkVersion).filter((version) => version !== null);
    return sparks.length === 0 || versions.length < sparks.length ? null : [...new Set(versions)].sort();
  }
}

function notInstalled(endpoint: string | null, version: string, available: readonly string[]): DomainError {
  const whose = endpoint === LOCAL_ENDPOINT ? 'Local nodes' : 'Machines of clouds';
  const text = `${whose} of this installation do not have Spark ${version}. Available: ${available.join(', ') || 'none'}.`;
  return invalid('CLUSTER.SPARK_NOT_INSTALLED', text, { available, fields: { spark_infra_version_id: [text] } });
}
