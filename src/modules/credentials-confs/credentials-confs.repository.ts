import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { AuthorNames } from '../../platform/http/answers';
import type { Tx } from '../../platform/persistence/sql';
import { inTenant } from '../../platform/persistence/tenant-condition';
import { ResourceRepository } from '../../platform/resources/resource-repository';
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

  /** The sealed values, also of a closed record: what was created with them must still be destroyed. */
  async sealed(tx: Tx, tenantId: string, id: number): Promise<CredentialsConf | null> {
    return tx.findOneBy(CredentialsConf, { ...inTenant({ tenantId }), credentials_conf_id: id });
  }
}
