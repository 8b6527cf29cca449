import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { AuthorNames } from '../../platform/http/answers';
import type { Tx } from '../../platform/persistence/sql';
import { inTenant } from '../../platform/persistence/tenant-condition';
import { type ResourceFilter, ResourceRepository } from '../../platform/resources/resource-repository';
import { CredentialsConf } from './entities/credentials-conf.entity';

/** Without `sealed`, so that no reader handles it by accident. */
export type CredentialsConfRow = Omit<CredentialsConf, 'sealed'> & AuthorNames;

@Injectable()
export class CredentialsConfsRepository extends ResourceRepository<CredentialsConf, CredentialsConfRow> {
  constructor(dataSource: DataSource) {
    super(dataSource, {
      entity: CredentialsConf,
      without: ['sealed'],
    });
  }

  /** Those for the provider; all without one. */
  ofProvider(cloudProviderId: number | undefined): ResourceFilter<CredentialsConf> {
    return (conditions) =>
      conditions.addIf(
        cloudProviderId !== undefined,
        't.credential_type_id IN (SELECT l.credential_type_id FROM credential_types l WHERE l.cloud_provider_id = ?)',
        cloudProviderId,
      );
  }

  /** The sealed values, of a closed record too: what was made with them must still be ended. */
  async sealed(tx: Tx, tenantId: string, id: number): Promise<CredentialsConf | null> {
    return tx.findOneBy(CredentialsConf, { ...inTenant({ tenantId }), credentials_conf_id: id });
  }
}
