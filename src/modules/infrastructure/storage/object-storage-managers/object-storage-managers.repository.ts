import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { AuthorNames } from '../../../../platform/kernel/dto/response-fields';
import { ResourceRepository } from '../../../../platform/http/resources/resource-repository';
import { type CredentialsConfData, credentialsConfJson } from '../../environments';
import { ObjectStorageManager } from './entities/object-storage-manager.entity';

export interface ObjectStorageManagerRow extends ObjectStorageManager, AuthorNames {
  credentials_conf: CredentialsConfData;
  credentials_updated: Date;
}

@Injectable()
export class ObjectStorageManagersRepository extends ResourceRepository<ObjectStorageManager, ObjectStorageManagerRow> {
  constructor(dataSource: DataSource) {
    super(dataSource, {
      entity: ObjectStorageManager,
      further: `${credentialsConfJson('oc')} AS credentials_conf, oc.last_update_date AS credentials_updated`,
      joins: `JOIN credentials_confs oc ON oc.tenant_id = t.tenant_id
        AND oc.credentials_conf_id = t.credentials_conf_id`,
    });
  }
}
