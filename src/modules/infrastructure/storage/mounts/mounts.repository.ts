import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { AuthorNames } from '../../../../platform/kernel/dto/response-fields';
import { ResourceRepository } from '../../../../platform/http/resources/resource-repository';
import { type CredentialsConfData, credentialsConfJson } from '../../environments';
import { Mount } from './entities/mount.entity';

export type MountRow = Mount & AuthorNames & { credentials_conf: CredentialsConfData };

@Injectable()
export class MountsRepository extends ResourceRepository<Mount, MountRow> {
  constructor(dataSource: DataSource) {
    super(dataSource, {
      entity: Mount,
      further: `${credentialsConfJson('mc')} AS credentials_conf`,
      joins: `JOIN credentials_confs mc ON mc.tenant_id = t.tenant_id
        AND mc.credentials_conf_id = t.credentials_conf_id`,
    });
  }
}
