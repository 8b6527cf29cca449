import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { TenantScope } from '../../platform/auth/principal';
import type { AuditRow } from '../../platform/http/answers';
import { rows } from '../../platform/persistence/sql';
import { ResourceRepository } from '../../platform/resources/resource-repository';
import { type CloudEnvData, cloudEnvJoins, cloudEnvJson } from './cloud-envs.contract';

export interface CloudEnvRow extends AuditRow {
  cloud_env_id: number;
  name: string;
  tenant_id: string;
  cloud_env: CloudEnvData;
}

@Injectable()
export class CloudEnvsRepository extends ResourceRepository<CloudEnvRow> {
  constructor(dataSource: DataSource) {
    super(dataSource, {
      table: 'cloud_envs',
      idColumn: 'cloud_env_id',
      columns: `t.cloud_env_id, t.name, t.tenant_id, t.last_update_date, t.from_date, t.to_date,
        ${cloudEnvJson('t')} AS cloud_env`,
      joins: cloudEnvJoins('t'),
      code: 'CLOUD_ENV',
      label: 'cloud environment',
    });
  }

  /** Endpoints of the current OnPrem environments that use the credentials. */
  async endpointsWith(scope: TenantScope, credentialsConfId: number): Promise<string[]> {
    const found = await rows<{ endpoint: string }>(
      this.dataSource.manager,
      `SELECT DISTINCT ce.endpoint FROM cloud_envs ce
       WHERE ce.tenant_id = $1 AND ce.credentials_conf_id = $2 AND ce.endpoint IS NOT NULL AND ce.to_date = 'infinity'`,
      [scope.tenantId, credentialsConfId],
    );
    return found.map(({ endpoint }) => endpoint);
  }
}
