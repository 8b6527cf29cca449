import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { TenantScope } from '../../../../platform/kernel/auth/principal';
import type { AuthorNames } from '../../../../platform/kernel/dto/response-fields';
import { rows } from '../../../../platform/kernel/persistence/sql';
import { ofTenant } from '../../../../platform/kernel/persistence/tenant-condition';
import { type ResourceFilter, ResourceRepository } from '../../../../platform/http/resources/resource-repository';
import { CLOUD_ENV_REFS, type CloudEnvRefs, cloudEnvJoins } from './cloud-envs.joins';
import { CloudEnv } from './entities/cloud-env.entity';

export type CloudEnvRow = CloudEnv & AuthorNames & CloudEnvRefs;

@Injectable()
export class CloudEnvsRepository extends ResourceRepository<CloudEnv, CloudEnvRow> {
  constructor(dataSource: DataSource) {
    super(dataSource, {
      entity: CloudEnv,
      further: Object.entries(CLOUD_ENV_REFS)
        .map(([key, sql]) => `${sql} AS ${key}`)
        .join(', '),
      joins: cloudEnvJoins('t'),
    });
  }

  /** Filters by machine architecture, if one is given. */
  ofArchitecture(name: string | undefined): ResourceFilter<CloudEnv> {
    return (conditions) =>
      conditions.addIf(
        name !== undefined,
        `EXISTS (SELECT 1 FROM boot_disk_images b
           JOIN machine_architecture_types a ON a.machine_architecture_type_id = b.architecture_type_id
           WHERE b.tenant_id = t.tenant_id AND b.boot_disk_image_id = t.boot_disk_image_id
             AND a.machine_architecture_type = ?)`,
        name,
      );
  }

  /** Returns the endpoints of current OnPrem environments that use the credentials. */
  async endpointsWith(scope: TenantScope, credentialsConfId: number): Promise<string[]> {
    const environments = await rows<{ endpoint: string }>(
      this.dataSource.manager,
      `SELECT DISTINCT ce.endpoint FROM cloud_envs ce
       WHERE ${ofTenant('ce', '$1')} AND ce.credentials_conf_id = $2 AND ce.endpoint IS NOT NULL AND ce.to_date = 'infinity'`,
      [scope.tenantId, credentialsConfId],
    );
    return environments.map(({ endpoint }) => endpoint);
  }
}
