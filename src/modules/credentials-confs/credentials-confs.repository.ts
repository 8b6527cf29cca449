import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { AuditRow } from '../../platform/http/answers';
import { firstRow, type Tx } from '../../platform/persistence/sql';
import { ResourceRepository } from '../../platform/resources/resource-repository';
import type { CredentialsConfData } from './credentials-confs.contract';

export interface CredentialsConfRow extends AuditRow, CredentialsConfData {
  tenant_id: string;
}

export const CREDENTIALS_CONFS = 'credentials_confs';

/** Rows come without `sealed`, so that no reader handles it by accident. */
@Injectable()
export class CredentialsConfsRepository extends ResourceRepository<CredentialsConfRow> {
  constructor(dataSource: DataSource) {
    super(dataSource, {
      table: CREDENTIALS_CONFS,
      idColumn: 'credentials_conf_id',
      columns: `t.credentials_conf_id, t.name, t.description, t.credential_type_id, t.tenant_id,
        t.last_update_date, t.from_date, t.to_date`,
      code: 'CREDENTIALS_CONF',
      label: 'credentials configuration',
    });
  }

  /** The sealed values, of a closed record too: what was made with them must still be ended. */
  async sealed(
    tx: Tx,
    tenantId: string,
    id: number,
  ): Promise<{ name: string; credential_type_id: number; sealed: Buffer } | null> {
    return firstRow(
      tx,
      'SELECT name, credential_type_id, sealed FROM credentials_confs WHERE tenant_id = $1 AND credentials_conf_id = $2',
      [tenantId, id],
    );
  }
}
