import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { AuthorNames } from '../../../../platform/kernel/dto/response-fields';
import type { Db } from '../../../../platform/kernel/persistence/sql';
import { inTenant } from '../../../../platform/kernel/persistence/tenant-condition';
import { type ResourceFilter, ResourceRepository } from '../../../../platform/http/resources/resource-repository';
import { CredentialsConf } from './entities/credentials-conf.entity';

/** Omits `sealed`, so that no reader exposes it by accident. */
export type CredentialsConfRow = Omit<CredentialsConf, 'sealed'> & AuthorNames;

@Injectable()
export class CredentialsConfsRepository extends ResourceRepository<CredentialsConf, CredentialsConfRow> {
  constructor(dataSource: DataSource) {
    super(dataSource, {
      entity: CredentialsConf,
      without: ['sealed'],
    });
  }

  /** Filters by provider, if one is given. */
  ofProvider(cloudProviderId: number | undefined): ResourceFilter<CredentialsConf> {
    return (conditions) =>
      conditions.addIf(
        cloudProviderId !== undefined,
        't.credential_type_id IN (SELECT l.credential_type_id FROM credential_types l WHERE l.cloud_provider_id = ?)',
        cloudProviderId,
      );
  }

  /** Also returns a closed record: resources created with its credentials must still be destroyed. */
  async findWithSealed(db: Db, tenantId: string, id: number): Promise<CredentialsConf | null> {
    return db.findOneBy(CredentialsConf, { ...inTenant({ tenantId }), credentials_conf_id: id });
  }
}
