import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { AuditRow } from '../../platform/http/answers';
import { ResourceRepository } from '../../platform/resources/resource-repository';
import type { VolumeData } from './volume-confs.contract';

export type VolumeConfRow = VolumeData & AuditRow;

@Injectable()
export class VolumeConfsRepository extends ResourceRepository<VolumeConfRow> {
  constructor(dataSource: DataSource) {
    super(dataSource, {
      table: 'volume_confs',
      idColumn: 'volume_conf_id',
      columns: 't.*',
      code: 'VOLUME_CONF',
      label: 'volume configuration',
    });
  }
}
