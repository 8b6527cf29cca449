import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { AuditRow } from '../../platform/http/answers';
import { ResourceRepository } from '../../platform/resources/resource-repository';
import { credentialsConfJson } from '../credentials-confs/credentials-confs.contract';
import type { ObjectStorageManagerData } from './object-storage-managers.contract';

export interface ObjectStorageManagerRow extends AuditRow, ObjectStorageManagerData {
  tenant_id: string;
  credentials_conf_id: number;
  /** When the credentials were changed last. */
  credentials_updated: Date;
}

@Injectable()
export class ObjectStorageManagersRepository extends ResourceRepository<ObjectStorageManagerRow> {
  constructor(dataSource: DataSource) {
    super(dataSource, {
      table: 'object_storage_managers',
      idColumn: 'object_storage_manager_id',
      columns: `t.*, ${credentialsConfJson('oc')} AS credentials_conf, oc.last_update_date AS credentials_updated`,
      joins: `JOIN credentials_confs oc ON oc.tenant_id = t.tenant_id
        AND oc.credentials_conf_id = t.credentials_conf_id`,
      code: 'OBJECT_STORAGE_MANAGER',
      label: 'object storage manager',
    });
  }
}
